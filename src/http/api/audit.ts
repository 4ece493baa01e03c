/** `GET /v1/audit`: what was done to an account and by it, for a management key and in the dashboard for a session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../../domain/account.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { AuditEntry } from '../../storage/store.js';
import { accountOf, managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { list, operation, record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { limitRule, queryNumber, queryText } from '../query.js';

const ownAuditLimit = limitRule(100, 200, 'How many entries, newest first.');

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerOwnAudit(app: FastifyInstance, deps: HttpDeps, prefix: '/v1' | ''): void {
  app.get(`${prefix}/audit`, async (request) => {
    // A management key of one project has not passed the check of rights.
    const { id: accountId } = managerOf(request).account;
    const limit = queryNumber(request, ownAuditLimit);
    const action = queryText(request, 'action');
    const entries = await deps.store.audit.list(limit, {
      ...{ accountId, ...(action !== undefined && { action }) },
      ...(await placeOf(deps, request, accountId)),
    });
    const data = entries.map((entry) => ownEntryJson(entry, accountId));
    if (prefix === '/v1') return { object: 'list', data };
    const names = await namesOf(deps, accountOf(request), data);
    return { object: 'list', data: data.map((entry) => ({ ...entry, ...names(entry) })) };
  });
}

/** For people, who know nobody by an id: the emails and names of whom and what the entries are about, null where there is none any more. */
async function namesOf({ store, directory }: HttpDeps, account: Account, entries: readonly OwnEntry[]) {
  const names = new Map([...account.projects.values()].map(({ id, name }) => [id, name]));
  names.set(account.id, account.email);
  for (const { id, name } of await directory.keys(account.id)) names.set(id, name);
  for (const [id, email] of await personEmails(store, entries)) names.set(id, email);
  const nameOf = (id: string | null) => names.get(id?.replace(/^(person|key|account):/, '') ?? '') ?? null;
  return ({ actor, by, subject }: OwnEntry) => ({
    actor_name: actor === 'operator' ? null : (nameOf(by) ?? nameOf(actor)),
    subject_name: nameOf(subject),
  });
}

/** The emails of the people in the entries, by the ids that are shown. */
export async function personEmails(
  { people }: HttpDeps['store'],
  entries: readonly Pick<AuditEntry, 'by' | 'actor' | 'subject'>[],
): Promise<Map<string, string>> {
  const named = entries.flatMap(({ by, actor, subject }) => [by ?? '', actor, subject]);
  const ids = [...new Set(named.map((id) => id.replace('person:', '')).filter((id) => id.startsWith('per-')))];
  // Who came with an account has the account's id in the store.
  const emails = await people.emails(ids.flatMap((id) => [id, id.replace(/^per-/, 'acct-')]));
  return new Map([...emails].map(([id, email]) => [shownPersonId(id), email]));
}

async function placeOf({ store }: HttpDeps, request: FastifyRequest, accountId: string): Promise<{ before?: string }> {
  const after = queryText(request, 'after');
  if (after === undefined) return {};
  if (await store.audit.has(accountId, after)) return { before: after };
  const reason = `is "${after.slice(0, 100)}", but the account has no entry with this id`;
  throw gatewayError('field_invalid', { param: 'after', reason });
}

type OwnEntry = ReturnType<typeof ownEntryJson>;

/** An account does not learn which operator it was, and from where. */
function ownEntryJson(entry: AuditEntry, accountId: string) {
  const isForeign =
    entry.actor === 'operator' || (entry.actor.startsWith('account:') && entry.actor !== `account:${accountId}`);
  const json = auditEntryJson(entry);
  return { object: 'audit_entry', ...json, ...(isForeign && { actor: 'operator', by: null, address: null }) };
}

/** An entry as the API shows it, to operators too. */
export function auditEntryJson({ id, seq, createdAt, actor, by, accountId, address, leafIndex, ...rest }: AuditEntry) {
  const { action, subject, details } = rest;
  return {
    ...{ id, seq, created_at: new Date(createdAt).toISOString(), actor, by, account: accountId, address },
    ...{ action, subject, details, leaf_index: leafIndex },
  };
}

export const shownEntry = {
  id: s.text('Its id.'),
  seq: s.integer('Its number, from 1 and without gaps.'),
  created_at: s.time('When.'),
  actor: s.text('Who: `operator`, `system`, `anonymous` or `account:{id}`.'),
  by: s.textOrNull('Who more exactly: `person:{id}`, `key:{id}` or `admin_token`; null where it is not known.'),
  account: s.textOrNull('The account that it concerns; null where it concerns none.'),
  address: s.textOrNull('The address that it was done from; null where it is not known.'),
  action: s.text('What was done: `key.create`, `credits.post` …'),
  subject: s.text('To what.'),
  details: { type: ['object', 'null'], additionalProperties: true, description: 'The rest.' },
  leaf_index: s.integerOrNull(
    'Its place in the log of receipts; null until it is sealed, and for entries from before the log had the audit.',
  ),
};

export const ownAuditOperation = operation('listOwnAudit', 'List what was done to the account and by it', {
  description: 'Newest first. Of an operator it says no more than that it was one.',
  parameters: [
    s.numberParameter(ownAuditLimit),
    s.query('after', 'Only entries that follow the one with this id.'),
    s.query('action', 'Only this action, or its first part such as `key`.'),
  ],
  answers: list(record('OwnAuditEntry', { object: { const: 'audit_entry' }, ...shownEntry }), 'The entries.'),
});
