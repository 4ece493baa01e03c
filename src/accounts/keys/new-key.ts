/** What is asked for where a key is made, or brought along from another system, and the key that it becomes. */
import { type ApiKey, type KeyTerms, openTerms } from '../../domain/account.js';
import { shownPersonId } from '../../domain/organisation.js';
import { auditTerms } from '../audit.js';
import { makeToken } from './token.js';

export interface NewKey extends Pick<ApiKey, 'accountId' | 'name' | 'expiresAt'>, Partial<KeyOwner> {
  /** The present moment where it is left out. */
  createdAt?: number;
  /** Without restrictions where they are left out. */
  terms?: KeyTerms;
  brought?: Required<Pick<ApiKey, 'hash' | 'lastFour' | 'importedFrom' | 'openingPico'>>;
}

/** null where they are left out: the default project, or the whole account for a management key, and no holder. */
type KeyOwner = Pick<ApiKey, 'projectId' | 'holderId'>;

/** With a new token, which a key that brings its own does not use. */
export function keyOf(request: NewKey, createdAt: number): { key: ApiKey; token: string } {
  const { accountId, name, expiresAt, terms = openTerms, brought, projectId = null, holderId = null } = request;
  const { token, id, lastFour, hash } = makeToken();
  const made: ApiKey = { id, accountId, name, lastFour, hash, expiresAt, createdAt, terms, projectId, holderId };
  return { key: brought ? { ...made, ...brought, brought: true } : made, token };
}

/** What the audit log keeps of it. */
export function newKeyDetails(request: NewKey): Record<string, unknown> {
  const { accountId, name, expiresAt, terms = openTerms, brought, projectId = null, holderId = null } = request;
  return {
    account_id: accountId,
    name,
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    ...(projectId !== null && { project: projectId }),
    ...(holderId !== null && { holder: shownPersonId(holderId) }),
    ...(terms !== openTerms && auditTerms(terms)),
    ...(brought && { imported_from: brought.importedFrom }),
  };
}

/** What the audit log keeps of one that is deleted. Its time is its place in the list of keys, where a page may have ended with it. */
export function deletedKeyDetails(accountId: string, createdAt: number): Record<string, unknown> {
  return { account_id: accountId, created_at: new Date(createdAt).toISOString() };
}
