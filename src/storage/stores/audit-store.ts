/** Reads and writes the entries of the audit log, and gives them to the sealer. */
import { setTimeout as pause } from 'node:timers/promises';
import { and, desc, eq, inArray, like, lt, or } from 'drizzle-orm';
import type { PoolClient } from 'pg';
import { type AuditFacts, auditLeaf, auditLeafHash } from '../../proof/audit-leaf.js';
import type { Database } from '../database.js';
import type { AuditLeaf } from '../log-types.js';
import type { AuditStore } from '../store.js';
import { audit } from './tables.js';

const lookEveryMs = 100;

/** The entries that are to become leaves, and are none yet. The planner finds them in an index of their own. */
export const unsealedEntries = `lodestone.audit a where a.leaf_index is null and a.seq >= (select s.logged_from from lodestone.audit_state s)`;

export function auditStore(database: Database): AuditStore {
  return {
    async add({ by = null, accountId = null, address = null, ...entry }) {
      await database.query((db) => db.insert(audit).values({ ...entry, by, accountId, address }));
    },

    list: (limit, { actor, action, subjects, accountId, before } = {}) =>
      database.query((db) =>
        db
          .select()
          .from(audit)
          .where(
            and(
              before === undefined ? undefined : lt(audit.id, before),
              actor === undefined ? undefined : eq(audit.actor, actor),
              action === undefined ? undefined : or(eq(audit.action, action), like(audit.action, `${action}.%`)),
              subjects === undefined ? undefined : inArray(audit.subject, [...subjects]),
              accountId === undefined ? undefined : eq(audit.accountId, accountId),
            ),
          )
          .orderBy(desc(audit.id))
          .limit(limit),
      ),

    has: (accountId, id) =>
      database.hasRow('audit-has', 'select 1 from lodestone.audit where account_id = $1 and id = $2', [accountId, id]),

    async sealed(waitMs) {
      const last = await database.value('audit-last', 'select last_seq from lodestone.audit_state', []);
      const waiting = `select 1 from ${unsealedEntries} and a.seq <= $1 limit 1`;
      for (let waitedMs = 0; waitedMs < waitMs; waitedMs += lookEveryMs) {
        if (!(await database.hasRow('audit-waiting', waiting, [last]))) return;
        await pause(lookEveryMs);
      }
    },
  };
}

/** The columns of an entry that its leaf is made of. */
export const factColumns = `a.seq, floor(extract(epoch from a.created_at) * 1000)::bigint as at, coalesce(a.acted_by, a.actor) as actor, a.account_id as account, a.action, a.subject,
  a.address, a.details`;

export type FactRow = Omit<AuditFacts, 'at'> & { at: number };

export function factsOf({ at, ...row }: FactRow): AuditFacts {
  return { ...row, at: new Date(at).toISOString() };
}

/** The leaves of entries that wait, by number. */
export async function waitingAudit(client: PoolClient, limit: number): Promise<AuditLeaf[]> {
  const { rows } = await client.query<FactRow & { hmac_key: Buffer }>({
    name: 'log-audit',
    text: `select ${factColumns}, (select s.hmac_key from lodestone.audit_state s) as hmac_key from ${unsealedEntries}
      order by a.seq limit $1`,
    values: [limit],
  });
  return rows.map(({ hmac_key: key, ...row }) => ({
    seq: row.seq,
    leaf: auditLeafHash(auditLeaf(factsOf(row), key)),
  }));
}

export async function markAuditSealed(
  client: PoolClient,
  entries: readonly { readonly seq: number; readonly leafIndex: number }[],
): Promise<void> {
  const done = await client.query({
    name: 'log-audit-sealed',
    text: `update lodestone.audit a set leaf_index = s.leaf_index from unnest($1::bigint[], $2::bigint[]) as s(seq, leaf_index)
      where a.seq = s.seq and a.leaf_index is null`,
    values: [entries.map(({ seq }) => seq), entries.map(({ leafIndex }) => leafIndex)],
  });
  if (done.rowCount !== entries.length) throw new Error('An entry of the audit log was sealed twice.');
}
