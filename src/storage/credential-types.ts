/** The interface of the store of credentials that customers have at providers. */
import type { SealedSecret } from '../base/sealed-secret.js';
import type { CredentialState, CredentialStatus, OwnCredential } from '../domain/credential.js';

/** What an operator or its owner sees of a credential. */
export interface StoredCredential {
  readonly credential: OwnCredential;
  readonly state: CredentialState;
}

type CredentialChange = Partial<
  Pick<OwnCredential, 'name' | 'use' | 'models' | 'agreement' | 'fingerprint' | 'secret'>
>;

/** What one process has seen of a credential since it last wrote it down. */
export interface CredentialSighting {
  readonly id: string;
  /** Of the secret that was used: what is seen of an older one says nothing of the newer one. */
  readonly revision: number;
  /** null where only its use is noted. */
  readonly status: Exclude<CredentialStatus, 'unchecked'> | null;
  readonly reason: string | null;
  readonly atMs: number;
  readonly lastUsedAt: number | null;
}

/** What a rotation reads of a credential. */
export interface WrappedSecret extends SealedSecret {
  readonly id: string;
  readonly accountId: string;
}

export interface CredentialStore {
  /**
   * `limit` where the account has as many, `exists` where one of the provider and scope has a model in common, `key_changed` where the
   * secret was sealed with a key that is no longer the current one, `no_project` where its project has been deleted.
   */
  create(
    credential: OwnCredential,
    limit: number,
  ): Promise<'created' | 'limit' | 'exists' | 'key_changed' | 'no_project'>;
  list(accountId: string): Promise<StoredCredential[]>;
  find(accountId: string, id: string): Promise<StoredCredential | null>;
  /** A new secret has a new revision, and is unchecked. */
  update(
    accountId: string,
    id: string,
    change: CredentialChange,
    nowMs: number,
  ): Promise<'changed' | 'exists' | 'gone' | 'key_changed'>;
  delete(accountId: string, id: string): Promise<boolean>;
  /** Writes down what was seen. One that fails after it did not makes a notice. */
  note(sightings: readonly CredentialSighting[]): Promise<void>;
  /** The ids of the keys that secrets are wrapped with, and how many are. */
  keysInUse(): Promise<Map<string, number>>;
  /** The credentials whose secrets are wrapped with one of these keys. */
  ofKeys(keyIds: readonly string[]): Promise<{ id: string; revision: number }[]>;
  /** The key that new secrets are sealed with; null before the first. */
  currentKey(): Promise<string | null>;
  /** From now on new secrets are sealed with this key. */
  setCurrentKey(id: string): Promise<void>;
  /** Some of the secrets that are wrapped with another key, by id, behind `after`. */
  wrappedOtherwise(keyId: string, limit: number, after: string): Promise<WrappedSecret[]>;
  /** Changes the wrapping of those that are as they were. */
  rewrap(from: WrappedSecret, to: SealedSecret): Promise<boolean>;
}
