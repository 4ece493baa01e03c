/** The part of the store for signing in: users, sessions, one-time tokens and links that reset a password. */
import type { DBAdapterInstance } from 'better-auth/types';

/** The user of sessions that the admin token opens. */
export const adminUserId = 'admin-token';

/** A link with which an account gets a new password. Its token is in no store. */
export interface PasswordReset {
  tokenHash: string;
  accountId: string;
  /** Who passes the link on to the owner of the account. */
  sentBy: 'mail' | 'operator';
  expiresAt: number;
}

/** A session of a person, without its token. */
export interface OpenSession {
  id: string;
  /** What the browser calls itself; null where no request of it has come yet. */
  userAgent: string | null;
  byProvider: boolean;
  createdAt: number;
  /** To the day. */
  lastUsedAt: number;
  expiresAt: number;
}

export interface SignInUser {
  /** The person's id: that of the account where they signed up with one. */
  accountId: string;
  email: string;
  operator: boolean;
  hasPassword: boolean;
  twoFactor: boolean;
}

export interface TwoFactorEntry {
  /** Encrypted. */
  secret: string;
  /** False while the first code is waited for: sign-in does not ask for one yet. */
  confirmed: boolean;
}

export interface TwoFactorStore {
  /** Keeps a secret until its first code comes, in place of an earlier one that waits. False where two-factor sign-in is on. */
  offer(accountId: string, secret: string): Promise<boolean>;
  find(accountId: string): Promise<TwoFactorEntry | null>;
  /** Turns it on with the secret whose code of `step` was shown. False where it is on, or another secret was offered since. */
  confirm(accountId: string, secret: string, step: number, codeHashes: readonly string[]): Promise<boolean>;
  /** True once for each step, and never for a step before one that was used. */
  useStep(accountId: string, step: number): Promise<boolean>;
  /** True once for each code. */
  useRecoveryCode(accountId: string, codeHash: string): Promise<boolean>;
  recoveryCodesLeft(accountId: string): Promise<number>;
  /** False where there was none. */
  remove(accountId: string): Promise<boolean>;
}

export interface SignInStore {
  /** The adapter through which better-auth reads and writes its tables. */
  adapter(): Promise<DBAdapterInstance>;
  /** The secret that signs the cookies: the candidate of the very first call. */
  secret(candidate: string): Promise<string>;
  /** Makes the user of sessions that the admin token opens, where there is none yet. It is nobody's, and no list of people has it. */
  addAdminUser(): Promise<void>;
  /** Every account that can sign in. */
  list(): Promise<SignInUser[]>;
  /**
   * Stores the account that a one-time token opens, under an identifier that does not reveal the token, and ends earlier
   * tokens.
   */
  keepOnlyToken(identifier: string, accountId: string, expiresAt: number): Promise<void>;
  /** Returns the account once; null where the token is unknown, used or too old. */
  takeToken(identifier: string, nowMs: number): Promise<string | null>;
  addReset(reset: PasswordReset): Promise<void>;
  /** null where the link is unknown, used or too old. The link stays. */
  findReset(tokenHash: string, nowMs: number): Promise<PasswordReset | null>;
  /** The same once: the link works for one call, also of several at the same time. */
  takeReset(tokenHash: string, nowMs: number): Promise<PasswordReset | null>;
  /** Ends every link of the account. */
  endResets(accountId: string): Promise<void>;
  /** The sessions of the person that have not expired, newest first. */
  sessionsOf(personId: string, nowMs: number): Promise<OpenSession[]>;
  /** Ends the person's session of that id, or all but the one that is kept. Returns how many. */
  endSessions(personId: string, which: { id: string } | { keptId: string }): Promise<number>;
  readonly twoFactor: TwoFactorStore;
  /** Deletes expired sessions, one-time tokens and links. */
  forgetExpired(nowMs: number): Promise<void>;
}
