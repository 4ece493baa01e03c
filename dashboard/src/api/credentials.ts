/** The account's own credentials at providers. */
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';
import type { List } from './types.js';

export type CredentialUse = 'only' | 'first' | 'last';

export interface Credential {
  id: string;
  provider: string;
  name: string;
  /** null for the whole account. */
  project: string | null;
  use: CredentialUse;
  models: string[] | null;
  /** The first digits of a hash of the secret, to tell two apart. */
  fingerprint: string;
  state: { status: 'unchecked' | 'ok' | 'failing'; reason: string | null; since: string };
  last_used_at: string | null;
}

export interface CheckedCredential extends Credential {
  check: { verdict: string; said: string | null; advice: string };
}

export const credentialPath = (id: string) => `credentials/${encodeURIComponent(id)}`;

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: async () => (await api<List<Credential>>('credentials?limit=100')).data,
});
