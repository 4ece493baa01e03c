/** Names the credential that a candidate is called with, as answers, records and explanations show it. */
import type { Route } from './route.js';

export interface CredentialName {
  /** null for the operator's. */
  readonly id: string | null;
  readonly owner: 'project' | 'account' | 'operator';
}

const operators: CredentialName = Object.freeze({ id: null, owner: 'operator' });

export function credentialOf({ credential }: Pick<Route, 'credential'>): CredentialName {
  return credential === undefined ? operators : { id: credential.id, owner: credential.owner };
}
