/**
 * Signs people in to the dashboard. better-auth keeps passwords and sessions; its user is a person, whose id is that of the account
 * where they signed up with one. A session belongs to the person and acts in one of their accounts at a time. It ends at sign-out, when
 * the password changes, a week after its last use, 30 days after it was opened, when the person is suspended or has no account left,
 * and, where the admin token gave it operator rights, when that token changes. One that an identity provider or the admin token opened
 * ends after 12 hours.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Account } from '../../domain/account.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { storeError } from '../../storage/database.js';
import { adminUserId, type PeopleStore, type SignInStore, StoreUnavailable } from '../../storage/store.js';
import type { AccountDirectory } from '../directory.js';
import type { Auth } from './auth.js';
import { isTaken, statusOf } from './auth-errors.js';
import { FewAtATime } from './few-at-a-time.js';
import { isOver, isStrong, noteBrowser, openerOf, operatorBy, proofOf, type SessionRules } from './kept-session.js';
import { personOf, type Session, type SessionAsking, type SignInOwner, standingsOf } from './session.js';

/** `Set-Cookie` values for the response. */
export type Cookies = readonly string[];

interface SignInsDeps extends SessionRules {
  store: SignInStore;
  people: PeopleStore;
  directory: Pick<AccountDirectory, 'account'>;
  /** The dashboard's URL from the configuration. */
  baseUrl: string;
  secure: boolean;
}

/** What an identity provider has said about whoever signs in. */
interface ProviderSession {
  readonly issuer: string;
  readonly subject: string;
  readonly sid: string | null;
  /** With a second factor. */
  readonly isStrong: boolean;
}

/** How long the admin token gives a session operator rights. */
const operatorMaxMs = 12 * 3_600_000;
const providerSessionMs = 12 * 3_600_000;

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

  /**
   * The session of a request's cookies. New cookies are returned where the session was extended or is not valid. `wanted` is the
   * account that the request names; without it, the session acts in the one that the person used last. Throws resource_not_found
   * where the person is not a member of it.
   */
  session(cookie: string, asking: SessionAsking = {}): Promise<{ session: Session | null; cookies: Cookies }> {
    const { wanted, userAgent } = asking;
    return this.run(async (auth) => {
      const { response, headers } = await auth.api.getSession({ headers: headersOf(cookie), returnHeaders: true });
      if (!response) return { session: null, cookies: headers.getSetCookie() };
      const { session, user } = response;
      const twoFactor = user.twoFactor === true;
      const end = async () => ({ session: null, cookies: await this.signOut(cookie) });
      if (user.status === 'suspended' || isOver(this.deps, session, twoFactor)) return end();
      const { current, standings } = await standingsOf(this.deps, user.id, wanted);
      const by = await operatorBy(this.deps, current?.account ?? null, user.operator === true, session);
      if (!current && by === null) return end();
      await noteBrowser(auth, session, userAgent);
      const person = { id: user.id, email: user.email, name: user.name || null };
      const rights = { operatorBy: by, openedBy: openerOf(session), twoFactor, isStrong: isStrong(session, twoFactor) };
      const found = { id: session.id, person, current, standings, token: session.token, ...rights };
      return { session: found, cookies: headers.getSetCookie() };
    });
  }

  /** Returns the id of the person; null where email or password is wrong. An unknown email takes as long. */
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
  open(personId: string, twoFactor = false): Promise<Cookies> {
    return this.openWith(personId, { isStrong: twoFactor, endsAt: null });
  }

  /** Opens a session for whom an identity provider has authenticated. */
  openByProvider(personId: string, { isStrong, ...identity }: ProviderSession): Promise<Cookies> {
    const endsAt = new Date(this.deps.clock.now() + providerSessionMs);
    return this.openWith(personId, { isStrong, endsAt, ...identity });
  }

  /** Opens an operator's session without an account for whom has shown the admin token. */
  async openByAdminToken(): Promise<Cookies> {
    await this.run(() => this.deps.store.addAdminUser());
    const endsAt = new Date(this.deps.clock.now() + operatorMaxMs);
    return this.openWith(adminUserId, { isStrong: true, endsAt }, (token) => this.setSessionOperator({ token }, true));
  }

  private openWith(
    personId: string,
    { isStrong, endsAt, ...identity }: NewSession,
    then?: (token: string) => Promise<void>,
  ): Promise<Cookies> {
    return this.run(async (auth) => {
      const twoFactorAt = isStrong ? new Date(this.deps.clock.now()) : null;
      const fields = { issuer: null, subject: null, sid: null, ...identity };
      const body = { userId: personId, twoFactorAt, endsAt, ...fields };
      const { headers, response } = await auth.api.openSession({ body, returnHeaders: true });
      await then?.(response.token);
      return headers.getSetCookie();
    });
  }

  endSessions(personId: string): Promise<void> {
    return this.run(async (auth) => (await auth.$context).internalAdapter.deleteUserSessions(personId));
  }

  signOut(cookie: string): Promise<Cookies> {
    return this.run(async (auth) => {
      const { headers } = await auth.api.signOut({ headers: headersOf(cookie), returnHeaders: true });
      return headers.getSetCookie();
    });
  }

  /** Returns false where the current password is wrong. Ends every session of the person; the caller opens a new one. */
  changePassword(personId: string, current: string | null, next: string): Promise<boolean> {
    return this.runHashing(async (auth) => {
      if (!(await isPassword(auth, personId, current))) return false;
      await this.keepHash(auth, personId, await (await auth.$context).password.hash(next));
      return true;
    });
  }

  /** True also for a person without a password. */
  verifyPassword(personId: string, password: string): Promise<boolean> {
    return this.runHashing((auth) => isPassword(auth, personId, password));
  }

  /** Lets the owner sign in, or gives them a new password, and ends all of their sessions. */
  async setPassword(owner: SignInOwner, password: string): Promise<void> {
    const keep = await this.hashPassword(password);
    await keep(owner);
  }

  /**
   * The half of `setPassword` that may be refused. Call it before the account is created: an account without its password
   * could not sign in, and its email would be taken. The returned function stores the password for an account or a person.
   */
  async hashPassword(password: string): Promise<(owner: SignInOwner, isNew?: boolean) => Promise<void>> {
    const hash = await this.runHashing(async (auth) => (await auth.$context).password.hash(password));
    return (owner, isNew = false) =>
      this.run(async (auth) => {
        const personId = await this.ensureUser(auth, owner, false);
        // Somebody of that email came in between: a stranger must not set their password.
        if (isNew && personId !== owner.id) throw gatewayError('account_exists', { email: owner.email });
        await this.keepHash(auth, personId, hash);
      });
  }

  /** Creates a user that can sign in only by a link until it has a password. */
  admitAsOperator(account: Account): Promise<string> {
    return this.run((auth) => this.ensureUser(auth, account, true));
  }

  /** Gives a session operator rights after the admin token was shown, or takes them away. */
  setSessionOperator({ token }: Pick<Session, 'token'>, operator: boolean): Promise<void> {
    return this.run(async (auth) => {
      const { internalAdapter } = await auth.$context;
      await internalAdapter.updateSession(token, {
        operatorUntil: operator ? new Date(this.deps.clock.now() + operatorMaxMs) : null,
        operatorProof: operator ? proofOf(this.deps, token) : null,
      });
    });
  }

  hasPassword(personId: string): Promise<boolean> {
    return this.run(async (auth) => {
      const found = await (await auth.$context).internalAdapter.findCredentialAccount(personId);
      return typeof found?.password === 'string';
    });
  }

  /** Returns the id of the person. One who has the account's email already becomes its owner. */
  private async ensureUser(auth: Auth, owner: SignInOwner, operator: boolean): Promise<string> {
    const { people, clock } = this.deps;
    const { internalAdapter } = await auth.$context;
    const before = await personOf(people, owner);
    if (before) {
      const isOther = before.id !== owner.id;
      const role = { accountId: owner.id, personId: before.id, source: 'manual', role: 'owner' } as const;
      if (isOther) await people.setMembership({ ...role, projects: null, createdAt: clock.now() });
      return before.id;
    }
    const { id, email, name } = owner;
    const user = { id, email: email.toLowerCase(), name: name ?? '', emailVerified: false, operator };
    await internalAdapter.createUser(user, { method: 'email' }).catch(async (error: unknown) => {
      // Another call may have created it in between.
      if (!isTaken(error) || !(await internalAdapter.findUserById(id))) throw error;
    });
    return id;
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
      if (error instanceof GatewayError) throw error;
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

type NewSession = Pick<ProviderSession, 'isStrong'> & Partial<ProviderSession> & { readonly endsAt: Date | null };

/** A person without a password accepts none and any. */
async function isPassword(auth: Auth, personId: string, given: string | null): Promise<boolean> {
  const { internalAdapter, password } = await auth.$context;
  const hash = (await internalAdapter.findCredentialAccount(personId))?.password ?? null;
  return hash === null || (given !== null && (await password.verify({ hash, password: given })));
}

function headersOf(cookie: string): Headers {
  return new Headers({ cookie });
}
