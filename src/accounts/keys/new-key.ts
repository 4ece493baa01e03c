/** What is asked for where a key is made, or brought along from another system. */
import type { ApiKey, KeyTerms } from '../../domain/account.js';

export interface NewKey extends Pick<ApiKey, 'accountId' | 'name' | 'expiresAt'>, Partial<KeyOwner> {
  /** The present moment where it is left out. */
  createdAt?: number;
  /** Without restrictions where they are left out. */
  terms?: KeyTerms;
  brought?: Required<Pick<ApiKey, 'hash' | 'lastFour' | 'importedFrom' | 'openingPico'>>;
}

/** null where they are left out: the default project, or the whole account for a management key, and no holder. */
type KeyOwner = Pick<ApiKey, 'projectId' | 'holderId'>;
