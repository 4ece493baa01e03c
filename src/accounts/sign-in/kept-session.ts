/** Whether a session that the store has still counts, and what gives it operator rights. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { adminUserId, type IdentityStore } from '../../storage/store.js';
import type { Auth } from './auth.js';
import type { Session } from './session.js';

/** The fields of better-auth's session that are used here. */
export interface KeptSession {
  readonly token: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly operatorUntil?: Date | null | undefined;
  readonly operatorProof?: string | null | undefined;
  readonly twoFactorAt?: Date | null | undefined;
  readonly issuer?: string | null | undefined;
  readonly subject?: string | null | undefined;
  readonly endsAt?: Date | null | undefined;
  readonly userAgent?: string | null | undefined;
}

export interface SessionRules {
  readonly clock: Pick<Clock, 'now'>;
  readonly identities: Pick<IdentityStore, 'find'>;
  /** The admin token in use: a reload replaces it. */
  readonly tokens: { readonly admin: string };
  /** People may sign in with a password. */
  readonly passwords: boolean;
}

/** The longest life of a session, however often it is used. */
const sessionMaxMs = 30 * 86_400_000;

export function openerOf({ userId, issuer }: KeptSession): Session['openedBy'] {
  if (userId === adminUserId) return 'admin_token';
  return issuer != null ? 'provider' : 'password';
}

/** Whoever opened the session has shown a second factor. The admin token is asked for none anywhere. */
export function isStrong(session: KeptSession, twoFactor: boolean): boolean {
  const opener = openerOf(session);
  return opener === 'provider' ? session.twoFactorAt != null : twoFactor || opener === 'admin_token';
}

export function isOver(rules: SessionRules, session: KeptSession, twoFactor: boolean): boolean {
  const { token, createdAt, endsAt, operatorProof, twoFactorAt } = session;
  const now = rules.clock.now();
  if (createdAt.getTime() + sessionMaxMs <= now || (endsAt != null && endsAt.getTime() <= now)) return true;
  const isByPassword = openerOf(session) === 'password';
  if (isByPassword && !rules.passwords) return true;
  // A sign-in that began before two-factor was turned on may have opened it.
  if (isByPassword && twoFactor && twoFactorAt == null) return true;
  return operatorProof != null && !equal(operatorProof, proofOf(rules, token));
}

const userAgentMax = 300;

/** Written once, so that people can tell their sessions apart. */
export async function noteBrowser(
  { $context }: Auth,
  { token, userAgent }: KeptSession,
  browser: string | undefined,
): Promise<void> {
  if (userAgent || !browser) return;
  await (await $context).internalAdapter.updateSession(token, { userAgent: browser.slice(0, userAgentMax) });
}

/** A suspended account has no operator rights. */
export async function operatorBy(
  { clock, identities }: SessionRules,
  account: Account | null,
  flagged: boolean,
  { operatorUntil, issuer, subject }: KeptSession,
): Promise<Session['operatorBy']> {
  if (account?.status === 'suspended') return null;
  if (flagged) return 'account';
  // Only in sessions of the provider whose group it is, which end soon.
  if (issuer != null && (await identities.find(issuer, subject ?? ''))?.operator) return 'group';
  return operatorUntil != null && operatorUntil.getTime() > clock.now() ? 'session' : null;
}

/**
 * Changes with the admin token. It does not help to guess that token, because the store does not have the key of the hash.
 */
export function proofOf({ tokens }: Pick<SessionRules, 'tokens'>, sessionToken: string): string {
  return createHmac('sha256', sessionToken).update(tokens.admin).digest('base64url');
}

function equal(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
