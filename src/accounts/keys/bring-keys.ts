/** Brings many keys of another system at once: one transaction, and one entry of the audit log. */
import type { Clock } from '../../base/time.js';
import type { ApiKey } from '../../domain/account.js';
import type { Store } from '../../storage/store.js';
import type { Actor, AuditLog } from '../audit.js';
import { keyOf, type NewKey } from './new-key.js';

interface BringDeps {
  readonly store: Pick<Store, 'brought'>;
  readonly clock: Clock;
  readonly audit: AuditLog;
}

/** null in the place of a key whose token another key has. Memory reads them with their first request. */
export async function bringKeys(
  { store, clock, audit }: BringDeps,
  actor: Actor,
  accountId: string,
  requests: readonly NewKey[],
): Promise<(ApiKey | null)[]> {
  const now = clock.now();
  const keys = requests.map((request) => keyOf(request, request.createdAt ?? now).key);
  const ids = await store.brought.bring(keys);
  const made = keys.filter(({ id }) => ids.has(id));
  if (made.length > 0) {
    await audit.record(actor, 'key.import', accountId, {
      keys: made.map(({ id, name, importedFrom }) => ({ id, name, imported_from: importedFrom ?? null })),
    });
  }
  return keys.map((key) => (ids.has(key.id) ? key : null));
}
