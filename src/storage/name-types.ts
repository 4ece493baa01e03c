/** What the store keeps of the names that the operator gives to models. */
import type { ModelName, StoredName } from '../catalogue/model-name.js';

export interface NameStore {
  /** The names that have changed after a version, the number of all names, and the version of the last change. */
  changedSince(version: string): Promise<{ names: StoredName[]; total: number; version: string }>;
  /** Creates or replaces a name; null where there are too many others. */
  put(name: ModelName, nowMs: number): Promise<StoredName | null>;
  /** False where there is no such name. */
  delete(name: string): Promise<boolean>;
}
