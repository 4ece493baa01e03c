/**
 * Holds accounts and keys in memory for a single process: one shared object for each account, one identity for each key. A
 * key that is dropped stays dropped, also where a read of it is in progress.
 */
import type { PicoUsd } from '../base/money.js';
import { type Account, type ApiKey, type Identity, identityOf } from '../domain/account.js';
import type { Store } from '../storage/store.js';
import { type Identities, overwrite, type SecretsGone } from './identities.js';
import { isHashDue, isRemoved } from './keys/token.js';

interface KeyRead {
  readonly result: Promise<Identity | null>;
  dropped: boolean;
  /** What the store answers may be older than a change. */
  outdated: boolean;
}

export class IdentityCache implements Identities {
  private readonly identities = new Map<string, Identity>();
  private readonly accounts = new Map<string, Account>();
  private readonly keyReads = new Map<string, KeyRead>();
  secretsGone: SecretsGone = () => {};

  /**
   * `replayed` resolves when the journal of an earlier process is in the store. Accounts are read only after that, so a
   * balance never lacks a settlement of an earlier process. Later settlements reach the account through `charge`.
   */
  constructor(
    private readonly store: Pick<Store, 'accounts' | 'keys'>,
    private readonly replayed: () => Promise<void>,
  ) {}

  cached(keyId: string): Identity | undefined {
    return this.identities.get(keyId);
  }

  ownerOf(keyId: string): string | undefined {
    return this.identities.get(keyId)?.key.accountId;
  }

  /** Reads a key once, however many requests ask for it at the same time. */
  load(keyId: string): Promise<Identity | null> {
    const underWay = this.keyReads.get(keyId);
    if (underWay) return underWay.result;
    const state = { dropped: false, outdated: false };
    const read: KeyRead = Object.assign(state, { result: this.readKey(keyId, state) });
    this.keyReads.set(keyId, read);
    const finished = () => {
      if (this.keyReads.get(keyId) === read) this.keyReads.delete(keyId);
    };
    read.result.then(finished, finished);
    return read.result;
  }

  private async readKey(keyId: string, read: Omit<KeyRead, 'result'>): Promise<Identity | null> {
    await this.replayed();
    let found: Awaited<ReturnType<Store['keys']['findWithAccount']>>;
    do {
      read.outdated = false;
      found = await this.store.keys.findWithAccount(keyId);
    } while (read.outdated);
    if (!found || read.dropped) return null;
    return this.addKey(found.key, this.adopt(found.account));
  }

  async account(id: string): Promise<Account | null> {
    const cached = this.accounts.get(id);
    if (cached) return cached;
    await this.replayed();
    const found = await this.store.accounts.find(id);
    return found && this.adopt(found);
  }

  async all(): Promise<Account[]> {
    await this.replayed();
    return (await this.store.accounts.list()).map((account) => this.adopt(account));
  }

  /** The object in memory wins: it has the changes made since the other one was read. */
  adopt(account: Account): Account {
    const cached = this.accounts.get(account.id);
    if (cached) return cached;
    this.accounts.set(account.id, account);
    return account;
  }

  addKey(key: ApiKey, account: Account): Identity {
    const identity = identityOf(key, account);
    this.identities.set(key.id, identity);
    return identity;
  }

  dropKey(keyId: string): void {
    this.identities.delete(keyId);
    const read = this.keyReads.get(keyId);
    if (!read) return;
    read.dropped = true;
    this.keyReads.delete(keyId);
  }

  forgetKey(keyId: string): void {
    this.identities.delete(keyId);
    const read = this.keyReads.get(keyId);
    if (read) read.outdated = true;
  }

  /** Memory drops the hashes of expired keys when the store does, and the keys that it removes. */
  eraseExpired(nowMs: number): void {
    for (const [id, { key, account }] of this.identities) {
      if (isRemoved(key, nowMs)) this.identities.delete(id);
      else if (isHashDue(key, nowMs)) this.addKey({ ...key, hash: null }, account);
    }
  }

  /** Synchronous, so that the account's next request sees the new balance. */
  charge(accountId: string, costPico: PicoUsd, _generationId: string, chargedPico: PicoUsd): void {
    const account = this.accounts.get(accountId);
    if (!account) return;
    account.balancePico -= costPico - chargedPico;
    account.usagePico += costPico - chargedPico;
  }

  /**
   * Charges change balance and usage alike, so the sum of the two shows the posted entries, whatever the journal still holds.
   */
  async reread(id: string): Promise<void> {
    const held = this.accounts.get(id);
    const fresh = held && (await this.store.accounts.find(id));
    if (!fresh) return;
    const { usagePico } = held;
    overwrite(
      held,
      { ...fresh, balancePico: fresh.balancePico + fresh.usagePico - usagePico, usagePico },
      this.secretsGone,
    );
  }

  /** No other process holds anything. */
  changed(): Promise<void> {
    return Promise.resolve();
  }
}
