/**
 * Who may sign in at the dashboard, and who has: passwords and sessions are better-auth's, and a user of its is an account of
 * ours under the same id. A session ends at sign-out, when the password changes, a week after it was last used, 30 days after
 * it was opened, and, where the admin token gave it operator rights, when that token changes.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { storeError } from '../../storage/database.js';
import { type SignInStore, type SignInUser, StoreUnavailable } from '../../storage/store.js';
import type { AccountDirectory } from '../directory.js';
import type { Auth } from './auth.js';
import { FewAtATime } from './few-at-a-time.js';

export interface Session {
  readonly account: Account;
  /** Names the session in the store; never leaves the process but in the cookie. */
  readonly token: string;
  /** By what the session has operator rights; null = it has none. */
  readonly operatorBy: 'account' | 'session' | null;
}

/** `Set-Cookie` values that go with an answer. */
export type Cookies = readonly string[];

export interface SignInsDeps {
  store: SignInStore;
  directory: Pick<AccountDirectory, 'account'>;
  clock: Pick<Clock, 'now'>;
  /** The dashboard's address, as configured. */
  baseUrl: string;
  secure: boolean;
  adminToken: string;
}

/** What better-auth keeps of a session, as far as it is looked at here. */
interface KeptSession {
  readonly token: string;
  readonly createdAt: Date;
  readonly operatorUntil?: Date | null | undefined;
  readonly operatorProof?: string | null | undefined;
}

/** However often it is used. */
const sessionMaxMs = 30 * 86_400_000;
/** How long the admin token gives a session operator rights. */
const operatorMaxMs = 12 * 3_600_000;

const credential = 'credential';

/** Of the four threads of the pool, and as many waiting as are through in some ten seconds. */
const hashesMax = 2;
const waitingMax = 100;

export class SignIns {
  private loading: Promise<Auth> | undefined;
  private secret: string | undefined;
  private readonly hashing = new FewAtATime(hashesMax, waitingMax);

  constructor(private readonly deps: SignInsDeps) {}

  /** Loads what signing in needs, so that the one who is about to does not wait for it. Called when the dashboard is opened. */
  warm(): void {
    this.auth().catch(() => {});
  }

  /** A key for signing something of the dashboard's own: the same in every process on this store, and after a restart. */
  async keyFor(purpose: string): Promise<Buffer> {
    return createHmac('sha256', await this.storedSecret())
      .update(purpose)
      .digest();
  }

  /** What the cookies of a request prove; cookies come back where the session was prolonged, or is none. */
  session(cookie: string): Promise<{ session: Session | null; cookies: Cookies }> {
    return this.run(async (auth) => {
      const { response, headers } = await auth.api.getSession({ headers: headersOf(cookie), returnHeaders: true });
      const account = response && (await this.deps.directory.account(response.user.id));
      if (!account) return { session: null, cookies: headers.getSetCookie() };
      const { session, user } = response;
      if (this.isOver(session)) return { session: null, cookies: await this.signOut(cookie) };
      const operatorBy = this.operatorBy(account, user.operator === true, session);
      return { session: { account, token: session.token, operatorBy }, cookies: headers.getSetCookie() };
    });
  }

  private isOver({ token, createdAt, operatorProof }: KeptSession): boolean {
    if (createdAt.getTime() + sessionMaxMs <= this.deps.clock.now()) return true;
    return operatorProof != null && !equal(operatorProof, this.operatorProof(token));
  }

  /** A suspended account has no operator rights, whatever has given it some. */
  private operatorBy(account: Account, flagged: boolean, { operatorUntil }: KeptSession): Session['operatorBy'] {
    if (account.status === 'suspended') return null;
    if (flagged) return 'account';
    return operatorUntil != null && operatorUntil.getTime() > this.deps.clock.now() ? 'session' : null;
  }

  /** Changes with the admin token. Nobody can guess at that token with it, because the store does not have the key of the hash. */
  private operatorProof(sessionToken: string): string {
    return createHmac('sha256', sessionToken).update(this.deps.adminToken).digest('base64url');
  }

  /** The cookies of a new session; null where e-mail address or password is wrong. Takes as long for an unknown address. */
  signIn(email: string, password: string): Promise<Cookies | null> {
    return this.runHashing(async (auth) => {
      try {
        const { headers } = await auth.api.signInEmail({ body: { email, password }, returnHeaders: true });
        return headers.getSetCookie();
      } catch (error) {
        if (isRefusal(error)) return null;
        throw error;
      }
    });
  }

  /** A session for whoever has proved otherwise that the account is theirs. */
  open(accountId: string): Promise<Cookies> {
    return this.run(async (auth) => {
      const { headers } = await auth.api.openSession({ body: { userId: accountId }, returnHeaders: true });
      return headers.getSetCookie();
    });
  }

  signOut(cookie: string): Promise<Cookies> {
    return this.run(async (auth) => {
      const { headers } = await auth.api.signOut({ headers: headersOf(cookie), returnHeaders: true });
      return headers.getSetCookie();
    });
  }

  /** False where the current password is wrong. Every session of the account ends; a new one is the caller's to open. */
  changePassword(accountId: string, current: string | null, next: string): Promise<boolean> {
    return this.runHashing(async (auth) => {
      const { internalAdapter, password } = await auth.$context;
      const kept = (await internalAdapter.findCredentialAccount(accountId))?.password ?? null;
      if (kept !== null && !(current !== null && (await password.verify({ hash: kept, password: current }))))
        return false;
      await this.keepHash(auth, accountId, await password.hash(next));
      return true;
    });
  }

  /** Makes the account able to sign in, or gives it a new password; every session that it has ends. */
  async setPassword(account: Account, password: string): Promise<void> {
    const keep = await this.hashed(password);
    await keep(account);
  }

  /**
   * The half of `setPassword` that may be refused, for whoever is about to make the account: one that was made without its
   * password could not be signed in to, and its address would be taken. What comes back keeps the password for an account.
   */
  async hashed(password: string): Promise<(account: Account) => Promise<void>> {
    const hash = await this.runHashing(async (auth) => (await auth.$context).password.hash(password));
    return (account) =>
      this.run(async (auth) => {
        await this.ensureUser(auth, account, false);
        await this.keepHash(auth, account.id, hash);
      });
  }

  /** An account that can sign in only by a link, until it has a password. */
  admitAsOperator(account: Account): Promise<void> {
    return this.run(async (auth) => {
      await this.ensureUser(auth, account, true);
    });
  }

  /** False where the account cannot sign in, so that there is nobody to be an operator. */
  setOperator(accountId: string, operator: boolean): Promise<boolean> {
    return this.run(async (auth) => {
      const { internalAdapter } = await auth.$context;
      if (!(await internalAdapter.findUserById(accountId))) return false;
      await internalAdapter.updateUser(accountId, { operator });
      return true;
    });
  }

  /** Operator rights for whoever has shown the admin token, or the end of them. */
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

  /** Every account that can sign in, by its id. */
  async users(): Promise<Map<string, SignInUser>> {
    return new Map((await this.deps.store.list()).map((user) => [user.accountId, user]));
  }

  private async ensureUser(auth: Auth, { id, email, name }: Account, operator: boolean): Promise<void> {
    const { internalAdapter } = await auth.$context;
    if (await internalAdapter.findUserById(id)) return;
    const user = { id, email: email.toLowerCase(), name: name ?? '', emailVerified: false, operator };
    await internalAdapter.createUser(user, { method: 'email' });
  }

  private async keepHash(auth: Auth, userId: string, hash: string): Promise<void> {
    const { internalAdapter } = await auth.$context;
    if (await internalAdapter.findCredentialAccount(userId)) await internalAdapter.updatePassword(userId, hash);
    else await internalAdapter.linkAccount({ userId, providerId: credential, accountId: userId, password: hash });
    await internalAdapter.deleteUserSessions(userId);
  }

  /** What hashes a password takes its turn. */
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

  /** A load that failed is tried again by the next who needs it. */
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

function equal(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function headersOf(cookie: string): Headers {
  return new Headers({ cookie });
}

/** The library's own errors have a status; one of 4xx is its answer to what was sent, any other its trouble with the store. */
function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500;
}
