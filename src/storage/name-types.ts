/** What the store keeps for clients of other systems: names of models, and tokens. */
import type { ModelName, StoredName } from '../catalogue/model-name.js';
import type { ApiKey } from '../domain/account.js';

export interface NameStore {
  /** The names that have changed after a version, the number of all names, and the version of the last change. */
  changedSince(version: string): Promise<{ names: StoredName[]; total: number; version: string }>;
  /** Creates or replaces a name; null where there are too many others. */
  put(name: ModelName, nowMs: number): Promise<StoredName | null>;
  /** False where there is no such name. */
  delete(name: string): Promise<boolean>;
}

export interface BroughtStore {
  /** Creates keys that are verified by tokens of another system, all at once. The ids of those whose hash no other key has. */
  bring(keys: readonly ApiKey[]): Promise<ReadonlySet<string>>;
  /** The id of the key with a token of this hash. */
  find(hash: Buffer): Promise<string | null>;
  any(): Promise<boolean>;
  /** What counts as spent through a key before it was brought here, where that was at or after `fromMs`. */
  openingSince(keyId: string, fromMs: number): Promise<bigint>;
}
