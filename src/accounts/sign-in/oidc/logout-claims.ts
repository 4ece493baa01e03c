/** Checks the claims of a logout token, which an identity provider sends when somebody signs out there. */
import { clockText, quoted, SignInFault } from './faults.js';
import { identifierOf } from './read-claims.js';

export interface LogoutClaims {
  readonly issuer: string;
  /** Not both null. */
  readonly subject: string | null;
  readonly sid: string | null;
  /** Names the token among those of the issuer. */
  readonly jti: string;
  /** Milliseconds. From then on the token is refused for its times. */
  readonly endsAt: number;
}

/** How far the clock of a provider may be off. */
export const leewaySeconds = 60;

const event = 'http://schemas.openid.net/event/backchannel-logout';
/** For tokens that do not say when they end. */
const lifeSeconds = 10 * 60;

interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly nowSeconds: number;
}

export function logoutClaimsOf(payload: Uint8Array, { issuer, clientId, nowSeconds }: Expected): LogoutClaims {
  const claims = objectOf(payload);
  const { iss, aud, iat, exp, nbf, nonce, events } = claims;
  if (iss !== issuer)
    throw new SignInFault('wrong_issuer', `The token has iss ${quoted(iss)}, expected ${quoted(issuer)}.`);
  if (![aud].flat().includes(clientId))
    throw new SignInFault('wrong_audience', `The token has aud ${quoted(aud)}, expected ${quoted(clientId)}.`);
  const end = exp ?? Number(iat) + lifeSeconds;
  if (typeof iat !== 'number' || iat > nowSeconds + leewaySeconds)
    throw new SignInFault('wrong_clock', clockText('iat', iat, nowSeconds));
  if (typeof end !== 'number' || end <= nowSeconds - leewaySeconds)
    throw new SignInFault('wrong_clock', clockText('exp', exp, nowSeconds));
  if (nbf !== undefined && !(Number(nbf) <= nowSeconds + leewaySeconds))
    throw new SignInFault('wrong_clock', clockText('nbf', nbf, nowSeconds));
  if (nonce !== undefined)
    throw new SignInFault('provider_answer', 'The token has a nonce, which only an id token has.');
  const happened = (events as Record<string, unknown> | null | undefined)?.[event];
  if (typeof happened !== 'object' || happened === null)
    throw new SignInFault('provider_answer', 'The token does not have the event of a logout.');
  const [subject, sid, jti] = [identifierOf(claims.sub), identifierOf(claims.sid), identifierOf(claims.jti)];
  if (jti === null) throw new SignInFault('provider_answer', `The token has jti ${quoted(claims.jti ?? null)}.`);
  // One that cannot be read must not end more than it says.
  for (const [name, read] of Object.entries({ sub: subject, sid })) {
    if (read === null && claims[name] !== undefined)
      throw new SignInFault('provider_answer', `The token has ${name} ${quoted(claims[name])}.`);
  }
  if (subject === null && sid === null)
    throw new SignInFault('provider_answer', 'The token names neither a person nor a session.');
  return { issuer, subject, sid, jti, endsAt: (end + leewaySeconds) * 1000 };
}

function objectOf(payload: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // It is refused below.
  }
  throw new SignInFault('provider_answer', 'The token is not a JSON object.');
}
