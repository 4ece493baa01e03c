/** Why a sign-in at an identity provider is refused. Each fault has a name, which the audit log and the sign-in page's address have. */

/** What is written to the log about each. The sign-in page has a text of its own for each, in the words of who signs in. */
export const signInFaults = {
  provider_unavailable: 'The identity provider cannot be reached, or does not answer in time.',
  provider_answer: 'The identity provider answered with something that it must not.',
  provider_refused: 'The identity provider refused the sign-in.',
  client_refused: 'The identity provider does not accept the client id and secret of the configuration.',
  code_refused: 'The identity provider does not accept the code: it was used, or it has expired.',
  state_missing: 'The browser began no sign-in, or began it more than ten minutes ago.',
  state_mismatch: 'The answer belongs to another sign-in than the one that the browser began.',
  state_replayed: 'The answer was used before.',
  wrong_issuer: 'The answer names another issuer than the identity provider.',
  wrong_clock: 'The times of the token do not fit the clock of this gateway.',
  unknown_key: 'The token is signed with a key that the identity provider does not publish.',
  bad_signature: 'The signature of the token is missing, wrong, or of a kind that is not accepted.',
  wrong_audience: 'The token was made for another client.',
  wrong_nonce: 'The token was made for another sign-in.',
  groups_overage: 'The identity provider left the groups out of the token because there are too many of them.',
  email_missing: 'The identity provider names no email.',
  email_not_verified: 'The identity provider does not say that the email is verified.',
  email_domain: 'The email is in a domain that the identity provider may not speak for.',
  identity_conflict: 'The email belongs to somebody who signs in another way.',
  no_access: 'No group gives a role, and the person is a member of no account.',
  person_suspended: 'The person is suspended.',
  too_many_attempts: 'There were too many attempts.',
} as const;

export type SignInFaultName = keyof typeof signInFaults;

/** The sign-in is refused. `reason` is for the audit log: it has the values that were compared, and no secret. */
export class SignInFault extends Error {
  override readonly name = 'SignInFault';

  constructor(
    readonly fault: SignInFaultName,
    readonly reason: string = signInFaults[fault],
    /** What the audit log adds, such as the email. */
    readonly about: Readonly<Record<string, unknown>> = {},
  ) {
    super(reason);
  }
}

/** The provider could not be called, or its answer was not read to its end. */
export class ProviderCallFailed extends Error {
  override readonly name = 'ProviderCallFailed';
}

/** Text of a provider for the audit log: short, and of one line. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return `"${text.replace(/[^\x20-\x7e\u00a0-\ud7ff]/g, '?').slice(0, 200)}"`;
}

/** The fault that an error of the protocol library stands for. Others, such as those of the store, are thrown on. */
export function faultOf(error: unknown): SignInFault {
  if (error instanceof SignInFault) return error;
  const chain = causesOf(error);
  const failed = chain.find((each) => each instanceof ProviderCallFailed);
  if (failed) return new SignInFault('provider_unavailable', (failed as Error).message);
  for (const each of chain) {
    const found = faultOfOne(each as LibraryError);
    if (found) return found;
  }
  throw error;
}

function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = error; each != null && chain.length < 8; each = (each as { cause?: unknown }).cause) chain.push(each);
  return chain;
}

interface LibraryError {
  readonly code?: unknown;
  readonly message?: unknown;
  /** Of an OAuth error answer. */
  readonly error?: unknown;
  readonly error_description?: unknown;
  readonly status?: unknown;
  readonly claim?: unknown;
  readonly cause?: unknown;
}

function faultOfOne({ code, message, error, error_description, status, cause }: LibraryError): SignInFault | null {
  const text = String(message);
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      return new SignInFault(
        'provider_refused',
        `The identity provider answered ${quoted(error)}: ${quoted(error_description ?? '')}.`,
      );
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return bodyFault(error, error_description);
    case 'OAUTH_WWW_AUTHENTICATE_CHALLENGE':
      return Number(status) === 401 ? new SignInFault('client_refused') : answerFault(text);
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return new SignInFault('wrong_clock', timesText(cause));
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return claimFault(cause, text);
    case 'OAUTH_INVALID_RESPONSE':
      return invalidFault(cause, text);
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return statusFault(cause, text);
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return /alg|crit|JWE/i.test(`${text} ${causesOf(cause).map(String).join(' ')}`)
        ? new SignInFault('bad_signature', text)
        : answerFault(text);
    default:
      return typeof code === 'string' && code.startsWith('OAUTH_') ? answerFault(innermost(cause, text)) : null;
  }
}

function bodyFault(error: unknown, description: unknown): SignInFault {
  const said = `The token endpoint answered ${quoted(error)}: ${quoted(description ?? '')}.`;
  if (error === 'invalid_grant') return new SignInFault('code_refused', said);
  if (error === 'invalid_client' || error === 'unauthorized_client') return new SignInFault('client_refused', said);
  return new SignInFault('provider_answer', said);
}

/** A server that fails or is overloaded is away; any other status is an answer that it must not give. */
function statusFault(cause: unknown, text: string): SignInFault {
  const response = causesOf(cause).find((each) => each instanceof Response) as Response | undefined;
  const said = `It answered ${response?.status ?? 'with another status'}.`;
  if (response && (response.status >= 500 || response.status === 429))
    return new SignInFault('provider_unavailable', said);
  return response ? answerFault(said) : answerFault(text);
}

function claimFault(cause: unknown, text: string): SignInFault {
  const details = detailsOf(cause);
  const { claim, claims, expected } = details;
  const found = (claims as Record<string, unknown> | undefined)?.[String(claim)];
  const said = `${innermost(cause, text)}: found ${quoted(found)}${expected === undefined ? '' : `, expected ${quoted(expected)}`}.`;
  const named = { aud: 'wrong_audience', azp: 'wrong_audience', iss: 'wrong_issuer', nonce: 'wrong_nonce' } as const;
  const fault = Object.hasOwn(named, String(claim)) ? named[claim as keyof typeof named] : 'provider_answer';
  return new SignInFault(fault, said);
}

function invalidFault(cause: unknown, text: string): SignInFault {
  const said = innermost(cause, text);
  if (/"iss" \(issuer\)/.test(said)) return new SignInFault('wrong_issuer', said);
  if (/"state"/.test(said)) return new SignInFault('state_mismatch', said);
  if (/"alg"/.test(said)) return new SignInFault('bad_signature', said);
  if (/"nonce"/.test(said)) return new SignInFault('wrong_nonce', said);
  return answerFault(said);
}

function answerFault(reason: string): SignInFault {
  return new SignInFault('provider_answer', reason.slice(0, 500));
}

/** What the library says at the bottom of its errors, which is the most exact. */
function innermost(cause: unknown, text: string): string {
  const errors = causesOf(cause).filter((each) => each instanceof Error);
  return (errors.at(-1) as Error | undefined)?.message ?? text;
}

function detailsOf(cause: unknown): Record<string, unknown> {
  return (causesOf(cause).findLast((each) => !(each instanceof Error)) ?? {}) as Record<string, unknown>;
}

function timesText(cause: unknown): string {
  const { claim, claims, now } = detailsOf(cause);
  const found = (claims as Record<string, unknown> | undefined)?.[String(claim)];
  return clockText(String(claim), found, Number(now));
}

export function clockText(claim: string, found: unknown, nowSeconds: number): string {
  return `The token has ${claim} ${quoted(found)}, and it is ${nowSeconds} here.`;
}
