/** `GET operator/audit-log`: the audit log with filters, and with the names of the accounts, people and keys in it. */
import type { FastifyInstance } from 'fastify';
import type { AuditEntry, AuditFilter } from '../../storage/store.js';
import { auditLimit } from '../admin/audit.js';
import { auditEntryJson, personEmails } from '../api/audit.js';
import type { HttpDeps } from '../deps.js';
import { queryNumber, queryText } from '../query.js';

export function registerAuditLog(app: FastifyInstance, deps: HttpDeps): void {
  const { store, directory } = deps;

  app.get('/audit-log', async (request) => {
    const limit = queryNumber(request, auditLimit);
    const fields = {
      actor: queryText(request, 'actor'),
      action: queryText(request, 'action'),
      before: queryText(request, 'after'),
    };
    const subject = queryText(request, 'subject');
    const filter: AuditFilter = {
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      ...(subject !== undefined && { subjects: [subject] }),
    };
    const entries = await store.audit.list(limit + 1, filter);
    const page = entries.slice(0, limit);
    const accounts = new Map((await directory.accounts()).map(({ id, email }) => [id, email]));
    const keys = await keyNames(deps, page);
    const people = await personEmails(store, page);
    const nameOf = (id: unknown) =>
      typeof id === 'string' ? (accounts.get(id) ?? keys.get(id) ?? people.get(id) ?? null) : null;
    return {
      object: 'list',
      data: page.map((entry) => ({
        ...auditEntryJson(entry),
        actor_name: nameOf(entry.actor.replace(/^(account|person):/, '')),
        subject_name: nameOf(entry.subject),
        account_id: typeof entry.details.account_id === 'string' ? entry.details.account_id : null,
        account_name: nameOf(entry.details.account_id),
      })),
      has_more: entries.length > limit,
    };
  });
}

/** From the entries of their creation, because a key that was deleted has no other trace of its name. */
async function keyNames({ store }: HttpDeps, entries: readonly AuditEntry[]): Promise<Map<string, string>> {
  const subjects = [
    ...new Set(entries.filter(({ action }) => action.startsWith('key.')).map(({ subject }) => subject)),
  ];
  if (subjects.length === 0) return new Map();
  const created = await store.audit.list(subjects.length, { action: 'key.create', subjects });
  return new Map(created.map(({ subject, details }) => [subject, String(details.name ?? subject)]));
}
