/**
 * What the directory needs of the memory that holds keys and accounts. One process holds them exactly, by writing through
 * (identity-cache.ts); the processes of a fleet hold them under versions (src/cluster/fleet).
 */
import type { PicoUsd } from '../base/money.js';
import type { Subject } from '../cluster/ports.js';
import type { Account, Identity, Key } from '../domain/account.js';

export interface Identities {
  /** Known to be true without asking anybody; undefined = ask `load`. */
  cached(keyId: string): Identity | undefined;
  /** null = there is no such key. Throws StoreUnavailable where that cannot be found out (500, never 401: ruling 16). */
  load(keyId: string): Promise<Identity | null>;
  account(id: string): Promise<Account | null>;
  all(): Promise<Account[]>;
  /** The one object that stands for an account: the one held already, or this. */
  adopt(account: Account): Account;
  addKey(key: Key, account: Account): Identity;
  dropKey(keyId: string): void;
  /** The account of a key that is held, whether or not it is still true. */
  ownerOf(keyId: string): string | undefined;
  eraseExpired(nowMs: number): void;
  /** Takes a cost that is on its way to the store off the balance in memory, less what was taken off for it before. */
  charge(accountId: string, costPico: PicoUsd, generationId: string, chargedPico: PicoUsd): void;
  /** Whether the store has made a change of the account is not known: memory takes over what the store has. Throws StoreUnavailable. */
  reread(accountId: string): Promise<void>;
  /** A change of these is in the store; when it resolves, no process acts on what was before. */
  changed(subjects: readonly Subject[]): Promise<void>;
}

/** Into the object that the account's keys share. */
export function overwrite(held: Account, { aliases, ...fresh }: Account): void {
  Object.assign(held, fresh);
  held.aliases.clear();
  for (const [name, alias] of aliases) held.aliases.set(name, alias);
}
