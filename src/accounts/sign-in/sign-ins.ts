/**
 * Signs users in to the dashboard. better-auth keeps passwords and sessions; its user and our account have the same id. A
 * session ends at sign-out, when the password changes, a week after its last use, 30 days after it was opened, and, where the
 * admin token gave it operator rights, when that token changes.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { storeError } from '../../storage/database.js';
import { type SignInStore, type SignInUser, StoreUnavailable } from '../../storage/store.js';
import type { AccountDirectory } from '../directory.js';
import type { Auth } from './auth.js';
import { isTaken, statusOf } from './auth-errors.js';
import { FewAtATime } from './few-at-a-time.js';

export interface Session {
  readonly account: Account;
  /** Names the session in the store. It leaves the process only in the cookie. */
  readonly token: string;
  /** What gives the session operator rights; null where it has none. */
  readonly operatorBy: 'account' | 'session' | null;
  /** The account has two-factor sign-in, which this session has passed: one that has not is no session. */
  readonly twoFactor: boolean;
}

/** `Set-Cookie` values for the response. */
export type Cookies = readonly string[];

export interface SignInsDeps {
  store: SignInStore;
  directory: Pick<AccountDirectory, 'account'>;
  clock: Pick<Clock, 'now'>;
  /** The dashboard's URL from the configuration. */
  baseUrl: string;
  secure: boolean;
  /** The admin token in use: a reload replaces it. */
  tokens: { readonly admin: string };
}

/** The fields of better-auth's session that are used here. */
interface KeptSession {
  readonly token: string;
  readonly createdAt: Date;
  readonly operatorUntil?: Date | null | undefined;
  readonly operatorProof?: string | null | undefined;
  readonly twoFactorAt?: Date | null | undefined;
}

/** The longest life of a session, however often it is used. */
const sessionMaxMs = 30 * 86_400_000;
/** How long the admin token gives a session operator rights. */
const operatorMaxMs = 12 * 3_600_000;

const credential = 'credential';

/** Two of the pool's four threads may hash. As many calls may wait as are done in about ten seconds. */
const hashesMax = 2;
const waitingMax = 100;

export class SignIns {
  private loading: Promise<Auth> | undefined;
  private secret: string | undefined;
  private readonly hashing = new FewAtATime(hashesMax, waitingMax);

  constructor(private readonly deps: SignInsDeps) {}

  /** Loads what signing in needs, so that the user does not wait for it. Called when the dashboard is opened. */
  warm(): void {
    this.auth().catch(() => {});
  }

  /** A key for signing values of the dashboard: the same in every process on this store and after a restart. */
  async keyFor(purpose: string): Promise<Buffer> {
    return createHmac('sha256', await this.storedSecret())
      .update(purpose)
      .digest();
  }

  /** The session of a request's cookies. New cookies are returned where the session was extended or is not valid. */
  session(cookie: string): Promise<{ session: Session | null; cookies: Cookies }> {
    return this.run(async (auth) => {
      const { response, headers } = await auth.api.getSession({ headers: headersOf(cookie), returnHeaders: true });
      const account = response && (await this.deps.directory.account(response.user.id));
      if (!account) return { session: null, cookies: headers.getSetCookie() };
      const { session, user } = response;
      const twoFactor = user.twoFactor === true;
      if (this.isOver(session, twoFactor)) return { session: null, cookies: await this.signOut(cookie) };
      const operatorBy = this.operatorBy(account, user.operator === true, session);
      return { session: { account, token: session.token, operatorBy, twoFactor }, cookies: headers.getSetCookie() };
    });
  }

  private isOver({ token, createdAt, operatorProof, twoFactorAt }: KeptSession, twoFactor: boolean): boolean {
    if (createdAt.getTime() + sessionMaxMs <= this.deps.clock.now()) return true;
    // A sign-in that began before two-factor was turned on may have opened it.
    if (twoFactor && twoFactorAt == null) return true;
    return operatorProof != null && !equal(operatorProof, this.operatorProof(token));
  }

  /** A suspended account has no operator rights. */
  private operatorBy(account: Account, flagged: boolean, { operatorUntil }: KeptSession): Session['operatorBy'] {
    if (account.status === 'suspended') return null;
    if (flagged) return 'account';
    return operatorUntil != null && operatorUntil.getTime() > this.deps.clock.now() ? 'session' : null;
  }

  /**
   * Changes with the admin token. It does not help to guess that token, because the store does not have the key of the hash.
   */
  private operatorProof(sessionToken: string): string {
    return createHmac('sha256', sessionToken).update(this.deps.tokens.admin).digest('base64url');
  }

  /** Returns the id of the account; null where email or password is wrong. An unknown email takes as long. */
  verifySignIn(email: string, password: string): Promise<string | null> {
    return this.runHashing(async (auth) => {
      const { internalAdapter, password: hasher } = await auth.$context;
      const found = await internalAdapter.findUserByEmail(email, { includeAccounts: true });
      const hash = found?.accounts.find(({ providerId }) => providerId === credential)?.password;
      if (hash) return (await hasher.verify({ hash, password })) ? found.user.id : null;
      await hasher.hash(password);
      return null;
    });
  }

  /** Opens a session for a user that has been authenticated, and that has passed the second factor where `twoFactor` is true. */
  open(accountId: string, twoFactor = false): Promise<Cookies> {
    return this.run(async (auth) => {
      const body = { userId: accountId, twoFactorAt: twoFactor ? new Date(this.deps.clock.now()) : null };
      const { headers } = await auth.api.openSession({ body, returnHeaders: true });
      return headers.getSetCookie();
    });
  }

  endSessions(accountId: string): Promise<void> {
    return this.run(async (auth) => (await auth.$context).internalAdapter.deleteUserSessions(accountId));
  }

  signOut(cookie: string): Promise<Cookies> {
    return this.run(async (auth) => {
      const { headers } = await auth.api.signOut({ headers: headersOf(cookie), returnHeaders: true });
      return headers.getSetCookie();
    });
  }

  /** Returns false where the current password is wrong. Ends every session of the account; the caller opens a new one. */
  changePassword(accountId: string, current: string | null, next: string): Promise<boolean> {
    return this.runHashing(async (auth) => {
      if (!(await isPassword(auth, accountId, current))) return false;
      await this.keepHash(auth, accountId, await (await auth.$context).password.hash(next));
      return true;
    });
  }

  /** True also for an account without a password. */
  verifyPassword(accountId: string, password: string): Promise<boolean> {
    return this.runHashing((auth) => isPassword(auth, accountId, password));
  }

  /** Lets the account sign in, or gives it a new password, and ends all of its sessions. */
  async setPassword(account: Account, password: string): Promise<void> {
    const keep = await this.hashPassword(password);
    await keep(account);
  }

  /**
   * The half of `setPassword` that may be refused. Call it before the account is created: an account without its password
   * could not sign in, and its email would be taken. The returned function stores the password for an account.
   */
  async hashPassword(password: string): Promise<(account: Account) => Promise<void>> {
    const hash = await this.runHashing(async (auth) => (await auth.$context).password.hash(password));
    return (account) =>
      this.run(async (auth) => {
        await this.ensureUser(auth, account, false);
        await this.keepHash(auth, account.id, hash);
      });
  }

  /** Creates a user that can sign in only by a link until it has a password. */
  admitAsOperator(account: Account): Promise<void> {
    return this.run(async (auth) => {
      await this.ensureUser(auth, account, true);
    });
  }

  /** Returns false where the account has no user. */
  setOperator(accountId: string, operator: boolean): Promise<boolean> {
    return this.run(async (auth) => {
      const { internalAdapter } = await auth.$context;
      if (!(await internalAdapter.findUserById(accountId))) return false;
      await internalAdapter.updateUser(accountId, { operator });
      return true;
    });
  }

  /** Gives a session operator rights after the admin token was shown, or takes them away. */
  setSessionOperator({ token }: Session, operator: boolean): Promise<void> {
    return this.run(async (auth) => {
      const { internalAdapter } = await auth.$context;
      await internalAdapter.updateSession(token, {
        operatorUntil: operator ? new Date(this.deps.clock.now() + operatorMaxMs) : null,
        operatorProof: operator ? this.operatorProof(token) : null,
      });
    });
  }

  hasPassword(accountId: string): Promise<boolean> {
    return this.run(async (auth) => {
      const found = await (await auth.$context).internalAdapter.findCredentialAccount(accountId);
      return typeof found?.password === 'string';
    });
  }

  /** Every account that can sign in, by id. */
  async users(): Promise<Map<string, SignInUser>> {
    return new Map((await this.deps.store.list()).map((user) => [user.accountId, user]));
  }

  private async ensureUser(auth: Auth, { id, email, name }: Account, operator: boolean): Promise<void> {
    const { internalAdapter } = await auth.$context;
    if (await internalAdapter.findUserById(id)) return;
    const user = { id, email: email.toLowerCase(), name: name ?? '', emailVerified: false, operator };
    await internalAdapter.createUser(user, { method: 'email' }).catch(async (error: unknown) => {
      // Another call may have created it in between.
      if (!isTaken(error) || !(await internalAdapter.findUserById(id))) throw error;
    });
  }

  private async keepHash(auth: Auth, userId: string, hash: string): Promise<void> {
    const { internalAdapter } = await auth.$context;
    if (await internalAdapter.findCredentialAccount(userId)) await internalAdapter.updatePassword(userId, hash);
    else {
      const link = { userId, providerId: credential, accountId: userId, password: hash };
      await internalAdapter.linkAccount(link).catch((error: unknown) => {
        // Another call may have set the first password in between: this one is the later.
        if (!isTaken(error)) throw error;
        return internalAdapter.updatePassword(userId, hash);
      });
    }
    await this.deps.store.endResets(userId);
    await internalAdapter.deleteUserSessions(userId);
  }

  /** Runs work that hashes a password, a few at a time. */
  private runHashing<T>(work: (auth: Auth) => Promise<T>): Promise<T> {
    return this.hashing.run(() => this.run(work));
  }

  private async run<T>(work: (auth: Auth) => Promise<T>): Promise<T> {
    try {
      return await work(await this.auth());
    } catch (error) {
      throw statusOf(error) === undefined ? storeError(error) : new StoreUnavailable(error);
    }
  }

  /** A failed load is tried again by the next caller. */
  private auth(): Promise<Auth> {
    this.loading ??= this.load().catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  private async load(): Promise<Auth> {
    const { store, clock, baseUrl, secure } = this.deps;
    const { createAuth } = await import('./auth.js');
    await store.forgetExpired(clock.now());
    return createAuth({ database: await store.adapter(), secret: await this.storedSecret(), baseUrl, secure });
  }

  private async storedSecret(): Promise<string> {
    this.secret ??= await this.deps.store.secret(randomBytes(32).toString('base64url'));
    return this.secret;
  }
}

/** An account without a password accepts none and any. */
async function isPassword(auth: Auth, accountId: string, given: string | null): Promise<boolean> {
  const { internalAdapter, password } = await auth.$context;
  const hash = (await internalAdapter.findCredentialAccount(accountId))?.password ?? null;
  return hash === null || (given !== null && (await password.verify({ hash, password: given })));
}

function equal(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function headersOf(cookie: string): Headers {
  return new Headers({ cookie });
}
