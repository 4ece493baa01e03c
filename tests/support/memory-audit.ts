/** The audit log in memory: it numbers the entries and finds their account, as the trigger of the store does. */
import type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry } from '../../src/storage/store.js';

export function memoryAudit(rows: AuditEntry[], answer: <T>(read: () => T) => Promise<T>): AuditStore {
  return {
    add: ({ by = null, accountId = null, address = null, ...entry }) =>
      answer(() => {
        const about = accountId ?? accountInEntry(entry);
        rows.push({ ...entry, by, accountId: about, address, seq: rows.length + 1, leafIndex: null });
      }),
    has: (accountId, id) => answer(() => rows.some((row) => row.id === id && row.accountId === accountId)),
    sealed: async () => {},
    list: (limit, filter = {}) => answer(() => [...rows].reverse().filter(isWanted(filter)).slice(0, limit)),
  };
}

function isWanted({ actor, action, subjects, accountId, before }: AuditFilter): (entry: AuditEntry) => boolean {
  return (entry) =>
    (actor === undefined || entry.actor === actor) &&
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (subjects === undefined || subjects.includes(entry.subject)) &&
    (accountId === undefined || entry.accountId === accountId) &&
    (before === undefined || entry.id < before);
}

function accountInEntry({ actor, subject, details }: NewAuditEntry): string | null {
  if (typeof details.account_id === 'string') return details.account_id;
  if (subject.startsWith('acct-')) return subject;
  return actor.startsWith('account:') ? actor.slice('account:'.length) : null;
}
