/**
 * Holds keys and accounts in one of many processes, under the versions that the shared state had when they were read. They
 * are used only while those versions are current. Without shared state nothing is trusted and the store is read.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Identities, overwrite, type SecretsGone } from '../accounts/identities.js';
import { isHashDue, isRemoved } from '../accounts/keys/token.js';
import type { PicoUsd } from '../base/money.js';
import { SharedRead } from '../base/shared-read.js';
import type { Subject, Versions } from '../cluster/ports.js';
import { type Account, type ApiKey, type Identity, identityOf } from '../domain/account.js';
import { type AccountBalance, type Store, StoreUnavailable } from '../storage/store.js';
import type { UnsettledCharges } from './unsettled-charges.js';

/** With a null version, the account may be used to guess a limit or an owner, but not to admit a request. */
interface HeldAccount {
  readonly account: Account;
  version: string | null;
  /** How often the account has been read. */
  reads: number;
}

export interface HeldIdentity {
  readonly identity: Identity;
  readonly version: string;
  readonly accountVersion: string;
}

interface HeldKey {
  readonly identity: Identity;
  version: string | null;
}

interface FleetIdentitiesDeps {
  store: Pick<Store, 'accounts' | 'keys'>;
  versions: Versions;
  charges: UnsettledCharges;
  /** Resolves when the journal of an earlier process is in the store. */
  replayed: () => Promise<void>;
  /** Resolves when everything charged so far is in the store; rejects with StoreUnavailable while that is not possible. */
  settled: () => Promise<void>;
}

export class FleetIdentities implements Identities {
  private readonly keys = new Map<string, HeldKey>();
  private readonly accounts = new Map<string, HeldAccount>();
  private readonly keyReads = new Map<string, SharedRead<Identity | null>>();
  private readonly accountReads = new Map<string, SharedRead<Account | null>>();
  secretsGone: SecretsGone = () => {};
  /** Raised by every notification: a read that was in progress may be older, so it is held under no version. */
  private changeCount = 0;

  constructor(private readonly deps: FleetIdentitiesDeps) {
    deps.versions.onLost(() => this.trustNothing());
  }

  /** Nothing is certain without asking: the request path compares the versions that `held` returns with the shared state. */
  cached(): undefined {
    return undefined;
  }

  /** What may be used if the shared state still has these versions. */
  held(keyId: string): HeldIdentity | undefined {
    const key = this.keys.get(keyId);
    if (!key || key.version === null) return undefined;
    const { version: accountVersion = null } = this.accounts.get(key.identity.account.id) ?? {};
    return accountVersion === null ? undefined : { identity: key.identity, version: key.version, accountVersion };
  }

  load(keyId: string): Promise<Identity | null> {
    return shared(this.keyReads, keyId, () => this.readKey(keyId));
  }

  account(id: string): Promise<Account | null> {
    return shared(this.accountReads, id, () => this.readAccount(id));
  }

  async all(): Promise<Account[]> {
    await this.deps.replayed();
    const found = await this.deps.store.accounts.list();
    return found.map((account) => ({ ...account, ...this.lessUnsettled(account) }));
  }

  adopt(account: Account): Account {
    return this.hold(account, null);
  }

  addKey(key: ApiKey, account: Account): Identity {
    const identity = identityOf(key, account);
    this.keys.set(key.id, { identity, version: null });
    return identity;
  }

  dropKey(keyId: string): void {
    this.keys.delete(keyId);
  }

  forgetKey(keyId: string): void {
    this.invalidate(`key:${keyId}`);
  }

  ownerOf(keyId: string): string | undefined {
    return this.keys.get(keyId)?.identity.key.accountId;
  }

  eraseExpired(nowMs: number): void {
    for (const [id, { identity, version }] of this.keys) {
      const { key, account } = identity;
      if (isRemoved(key, nowMs)) this.keys.delete(id);
      if (isRemoved(key, nowMs) || !isHashDue(key, nowMs)) continue;
      this.keys.set(id, { identity: identityOf({ ...key, hash: null }, account), version });
    }
  }

  charge(accountId: string, costPico: PicoUsd, generationId: string, chargedPico: PicoUsd): void {
    this.deps.charges.add(accountId, generationId, costPico);
    const held = this.accounts.get(accountId);
    if (!held) return;
    held.account.balancePico -= costPico - chargedPico;
    held.account.usagePico += costPico - chargedPico;
  }

  changed(subjects: readonly Subject[]): Promise<void> {
    for (const subject of subjects) this.invalidate(subject);
    return this.deps.versions.raise(subjects);
  }

  reread(accountId: string): Promise<void> {
    return this.changed([`account:${accountId}`]);
  }

  /**
   * Takes the store's balances, which include all processes. Skipped while charges of this process are being sent: memory has
   * those, and the store's figure may or may not.
   */
  async takeOverBalances(accountIds: readonly string[]): Promise<AccountBalance[]> {
    const { charges } = this.deps;
    const sending = new Set(accountIds.filter((id) => charges.beingSent(id)));
    const readsBefore = new Map(accountIds.map((id) => [id, this.accounts.get(id)?.reads]));
    const balances = await this.deps.store.accounts.balances(accountIds);
    for (const balance of balances) {
      const held = this.accounts.get(balance.id);
      if (!held || charges.inDoubt(balance.id) || sending.has(balance.id) || charges.beingSent(balance.id)) continue;
      if (held.reads === readsBefore.get(balance.id)) Object.assign(held.account, this.lessUnsettled(balance));
      // Which of the two is newer is unknown, so the next request reads the account again.
      else held.version = null;
    }
    return balances;
  }

  /** Another process has changed the subject, or may have. */
  invalidate(subject: string): void {
    this.changeCount++;
    const [kind, id = ''] = splitOnce(subject);
    const held = kind === 'key' ? this.keys.get(id) : kind === 'account' ? this.accounts.get(id) : undefined;
    if (held) held.version = null;
  }

  trustNothing(): void {
    this.changeCount++;
    for (const held of this.keys.values()) held.version = null;
    for (const held of this.accounts.values()) held.version = null;
  }

  /** Reads the versions first and the store second, so that what is held is never older than its version. */
  private async readKey(keyId: string): Promise<Identity | null> {
    await this.deps.replayed();
    const { changeCount } = this;
    const owner = this.ownerOf(keyId) ?? (await this.deps.store.keys.findWithAccount(keyId))?.account.id;
    if (owner === undefined) return null;
    const versions = await this.deps.versions.current([`key:${keyId}@${owner}`, `account:${owner}`]);
    const held = versions && this.heldUnder(keyId, versions);
    if (held) return held;
    const found = await this.readAfterSettling(owner, () => this.deps.store.keys.findWithAccount(keyId));
    if (!found) {
      this.dropKey(keyId);
      return null;
    }
    const [version = null, accountVersion = null] = (changeCount === this.changeCount && versions) || [];
    const identity = this.sameIdentity(found.key, this.hold(found.account, accountVersion));
    this.keys.set(keyId, { identity, version });
    return identity;
  }

  private async readAccount(id: string): Promise<Account | null> {
    await this.deps.replayed();
    const { changeCount } = this;
    const versions = await this.deps.versions.current([`account:${id}`]);
    const held = this.accounts.get(id);
    if (held && versions && held.version === versions[0]) return this.withBalance(held.account);
    const found = await this.readAfterSettling(id, () => this.deps.store.accounts.find(id));
    return found && this.hold(found, (changeCount === this.changeCount && versions?.[0]) || null);
  }

  /**
   * Brings charges that the store may or may not have to the store before its balance is believed: otherwise a used-up
   * account would be served again until they arrive. Reads first, because a store that is still away then fails at once.
   */
  private async readAfterSettling<T>(accountId: string, read: () => Promise<T>): Promise<T> {
    const found = await read();
    if (!this.deps.charges.inDoubt(accountId)) return found;
    await this.deps.settled();
    return read();
  }

  /**
   * Settlements of other processes raise no version before a balance is used up, but whoever asks for an account gets its
   * ledger's sum.
   */
  private async withBalance(account: Account): Promise<Account> {
    try {
      await this.takeOverBalances([account.id]);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    return account;
  }

  private heldUnder(keyId: string, [version, accountVersion]: readonly string[]): Identity | null {
    const held = this.held(keyId);
    return held && held.version === version && held.accountVersion === accountVersion ? held.identity : null;
  }

  /** Copies into the object that the account's keys already share. */
  private hold(fresh: Account, version: string | null): Account {
    Object.assign(fresh, this.lessUnsettled(fresh));
    const held = this.accounts.get(fresh.id);
    if (!held) {
      this.accounts.set(fresh.id, { account: fresh, version, reads: 1 });
      return fresh;
    }
    overwrite(held.account, fresh, this.secretsGone);
    held.version = version;
    held.reads++;
    return held.account;
  }

  private lessUnsettled({ id, balancePico, usagePico }: AccountBalance): Pick<Account, 'balancePico' | 'usagePico'> {
    const unsettled = this.deps.charges.sum(id);
    return { balancePico: balancePico - unsettled, usagePico: usagePico + unsettled };
  }

  /** Returns the same object for the same key, so that a verified token is not hashed again. */
  private sameIdentity(key: ApiKey, account: Account): Identity {
    const held = this.keys.get(key.id)?.identity;
    return held?.account === account && isDeepStrictEqual(held.key, key) ? held : identityOf(key, account);
  }
}

function shared<T>(reads: Map<string, SharedRead<T>>, name: string, read: () => Promise<T>): Promise<T> {
  let one = reads.get(name);
  if (!one) {
    one = new SharedRead(read);
    reads.set(name, one);
  }
  const answer = one.ask();
  const forget = () => {
    if (one.idle && reads.get(name) === one) reads.delete(name);
  };
  answer.then(forget, forget);
  return answer;
}

function splitOnce(subject: string): [string, string?] {
  const at = subject.indexOf(':');
  return at === -1 ? [subject] : [subject.slice(0, at), subject.slice(at + 1).replace(/@.*$/, '')];
}
