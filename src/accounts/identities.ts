/**
 * The interface of the memory that holds keys and accounts. A single process holds them exactly by writing through
 * (identity-cache.ts); the processes of a fleet hold them under versions (src/fleet).
 */
import { isDeepStrictEqual } from 'node:util';
import type { PicoUsd } from '../base/money.js';
import type { Subject } from '../cluster/ports.js';
import type { Account, ApiKey, Identity } from '../domain/account.js';
import type { OwnCredential } from '../domain/credential.js';

export interface Identities {
  /** The identity that memory holds and that is certainly current; undefined where `load` must be called. */
  cached(keyId: string): Identity | undefined;
  /** null where there is no such key. Throws StoreUnavailable where that is unknown, which becomes a 500 and never a 401. */
  load(keyId: string): Promise<Identity | null>;
  account(id: string): Promise<Account | null>;
  all(): Promise<Account[]>;
  /** Returns the one object for an account: the one that memory holds, or else this one. */
  adopt(account: Account): Account;
  addKey(key: ApiKey, account: Account): Identity;
  /** The key is deleted: a read of it that is in progress finds nothing. */
  dropKey(keyId: string): void;
  /** The key is changed, or may be: it is read again before its next request. */
  forgetKey(keyId: string): void;
  /** The account of a key in memory, whether or not it is still current. */
  ownerOf(keyId: string): string | undefined;
  eraseExpired(nowMs: number): void;
  /**
   * Deducts a cost, which the store gets later, from the balance in memory, less what was already deducted for the
   * generation.
   */
  charge(accountId: string, costPico: PicoUsd, generationId: string, chargedPico: PicoUsd): void;
  /** Reads the account again after a change that the store may or may not have made. Throws StoreUnavailable. */
  reread(accountId: string): Promise<void>;
  /** Called with credentials in memory whose secrets another process has replaced or deleted, when an account is read again. */
  secretsGone: SecretsGone;
  /** The store has changed these subjects. When the promise resolves, no process acts on the earlier state. */
  changed(subjects: readonly Subject[]): Promise<void>;
}

export type SecretsGone = (credentials: readonly OwnCredential[]) => void;

/** Copies the fields into the object that the account's keys share. */
export function overwrite(held: Account, account: Account, secretsGone: SecretsGone): void {
  const { aliases, projects, credentials, ...fresh } = account;
  Object.assign(held, fresh);
  // What is made of a list is kept with it.
  if (!isDeepStrictEqual(held.credentials, credentials)) {
    const kept = new Set(credentials.map(({ secret }) => secret.sealed));
    secretsGone(held.credentials.filter(({ secret }) => !kept.has(secret.sealed)));
    held.credentials = credentials;
  }
  held.aliases.clear();
  for (const [name, alias] of aliases) held.aliases.set(name, alias);
  for (const id of held.projects.keys()) if (!projects.has(id)) held.projects.delete(id);
  // In place, because the identities of the project's keys have the object.
  for (const [id, project] of projects) held.projects.set(id, Object.assign(held.projects.get(id) ?? project, project));
}
