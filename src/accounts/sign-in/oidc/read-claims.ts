/** Reads what an identity provider says about a person: from its id token, and from userinfo what that lacks. */
import type { IdentityProvider } from '../../../config/identity-providers.js';
import { quoted, SignInFault } from './faults.js';

export type RawClaims = Readonly<Record<string, unknown>>;

export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  /** Names the session at the provider; null where it does not say. */
  readonly sid: string | null;
  /** Verified, of a domain that the provider may speak for, in lower case. */
  readonly email: string;
  readonly name: string | null;
  readonly groups: ReadonlySet<string>;
  /** The person has shown more than one factor. */
  readonly isStrong: boolean;
}

type Settings = Pick<IdentityProvider, 'domains' | 'groupsClaim' | 'trustEmail' | 'acrValues' | 'grants'>;

const groupsMax = 10_000;
const nameMax = 200;

export function needsUserInfo(token: RawClaims, { groupsClaim, trustEmail, grants }: Settings): boolean {
  if (hasOverage(token, groupsClaim)) return false;
  if (token.email === undefined || (token.email_verified === undefined && !trustEmail)) return true;
  return grants.length > 0 && token[groupsClaim] === undefined;
}

export function claimsOf(token: RawClaims, info: RawClaims, settings: Settings): Claims {
  const { groupsClaim, acrValues } = settings;
  const { iss, sub, sid, amr, acr } = token;
  const subject = identifierOf(sub);
  if (subject === null) throw new SignInFault('provider_answer', `The token has sub ${quoted(sub)}.`);
  if ([token, info].some((claims) => hasOverage(claims, groupsClaim))) throw new SignInFault('groups_overage');
  const email = emailOf(token, info, settings);
  const methods = typeof amr === 'string' ? [amr] : Array.isArray(amr) ? amr : [];
  return {
    ...{ issuer: String(iss), subject, sid: identifierOf(sid), email },
    name: nameOf(token.name ?? info.name),
    groups: groupsOf(token[groupsClaim] ?? info[groupsClaim], groupsClaim),
    isStrong: methods.includes('mfa') || (typeof acr === 'string' && acrValues.includes(acr)),
  };
}

/** Entra leaves groups out beyond 200, and says where they could be asked for. To take this for no groups would take every role away. */
function hasOverage({ _claim_names: names, hasgroups }: RawClaims, groupsClaim: string): boolean {
  if (hasgroups === true || hasgroups === 'true') return true;
  return typeof names === 'object' && names !== null && Object.hasOwn(names, groupsClaim);
}

function emailOf(token: RawClaims, info: RawClaims, { domains, trustEmail }: Settings): string {
  const written = token.email ?? info.email;
  // Other letters may become these when their case changes, and would then be the email of somebody else.
  if (typeof written !== 'string' || !/^[\x21-\x3f\x41-\x7e]{1,64}@[\x21-\x3f\x41-\x7e]{1,190}$/.test(written))
    throw new SignInFault('email_missing', `The identity provider names the email ${quoted(written ?? null)}.`);
  const email = written.toLowerCase();
  const isSame = info.email === undefined || String(info.email).toLowerCase() === email;
  const verified =
    token.email === undefined
      ? info.email_verified
      : (token.email_verified ?? (isSame ? info.email_verified : undefined));
  const isVerified = verified === true || verified === 'true' || (trustEmail && verified === undefined);
  if (!isVerified)
    throw new SignInFault(
      'email_not_verified',
      `The email ${quoted(email)} has email_verified ${quoted(verified ?? null)}.`,
      { email },
    );
  const domain = email.slice(email.indexOf('@') + 1);
  if (!domains.includes(domain))
    throw new SignInFault(
      'email_domain',
      `The email ${quoted(email)} is in none of the domains ${domains.join(', ')}.`,
      { email },
    );
  return email;
}

/** A list, or one group as text. None where the provider says nothing, as some do for people without groups. */
function groupsOf(value: unknown, claim: string): ReadonlySet<string> {
  if (value === undefined || value === null) return new Set();
  const list = typeof value === 'string' ? [value] : value;
  const isList = Array.isArray(list) && list.length <= groupsMax && list.every((group) => typeof group === 'string');
  if (!isList)
    throw new SignInFault('provider_answer', `The claim ${quoted(claim)} is no list of at most ${groupsMax} texts.`);
  return new Set(list as string[]);
}

/** Text that names something in the store: without control characters, and not too long. */
export function identifierOf(value: unknown): string | null {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value) ? value : null;
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(value) ? value.trim().slice(0, nameMax) || null : null;
}
