/** Stores the keys of workloads, counts how often each token was exchanged, and ends and removes such keys. */
import { and, eq, gt, inArray, isNotNull, isNull, or, type SQL } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { workloadKeptMs } from '../../domain/account.js';
import { defaultProjectId, type TrustEntry, trustEntryId } from '../../domain/organisation.js';
import type { Database } from '../database.js';
import type { WorkloadStore } from '../store.js';
import { lockAccount } from './account-store.js';
import { storedTerms } from './key-rows.js';
import { keys, projects, withoutNul } from './tables.js';

export function workloadStore(database: Database): WorkloadStore {
  return {
    ownerOf: (projectId) =>
      database.value('owner-of-project', 'select account_id from lodestone.projects where id = $1', [
        withoutNul(projectId),
      ]),

    create: ({ terms, ...key }, { digest, endsAt, most }) =>
      database.transaction(async (db, client) => {
        // A change of the project waits for the same lock, so no key outlives the entry that it came by.
        await lockAccount(db, key.accountId);
        const projectId = key.projectId ?? defaultProjectId(key.accountId);
        const [project] = await db.select({ trust: projects.trust }).from(projects).where(eq(projects.id, projectId));
        const trust = (project?.trust ?? []) as TrustEntry[];
        if (!trust.some((entry) => trustEntryId(entry) === key.workload.entry)) return 'untrusted';
        const counted = await client.query(countSql, [digest, new Date(endsAt).toISOString(), most]);
        if (counted.rows.length === 0) return 'used_up';
        await db.insert(keys).values({ ...key, terms: storedTerms(terms) });
        return 'created';
      }),
  };
}

const countSql = `
insert into lodestone.token_exchanges as t (token, exchanges, ends_at) values ($1, 1, $2)
on conflict (token) do update set exchanges = t.exchanges + 1 where t.exchanges < $3
returning exchanges`;

/** The keys of workloads among those of a project. */
function keysOf(accountId: string, projectId: string): SQL | undefined {
  const named = eq(keys.projectId, projectId);
  const ofProject = projectId === defaultProjectId(accountId) ? or(named, isNull(keys.projectId)) : named;
  return and(eq(keys.accountId, accountId), ofProject, isNotNull(keys.workload));
}

/** Ends the keys of a project that came by entries which it has no more, inside a transaction. Returns their ids. */
export async function endUntrusted(
  db: NodePgDatabase,
  project: { accountId: string; id: string; trust: readonly TrustEntry[] },
  nowMs: number,
): Promise<string[]> {
  const kept = new Set(project.trust.map(trustEntryId));
  const alive = await db
    .select({ id: keys.id, workload: keys.workload })
    .from(keys)
    .where(and(keysOf(project.accountId, project.id), gt(keys.expiresAt, nowMs)));
  const ended = alive.filter(({ workload }) => !kept.has(workload!.entry)).map(({ id }) => id);
  if (ended.length > 0) await db.update(keys).set({ expiresAt: nowMs }).where(inArray(keys.id, ended));
  return ended;
}

/** Removes the keys that workloads got from a project which is deleted, inside a transaction. Returns their ids. */
export async function removeOfProject(db: NodePgDatabase, accountId: string, projectId: string): Promise<string[]> {
  const gone = await db.delete(keys).where(keysOf(accountId, projectId)).returning({ id: keys.id });
  return gone.map(({ id }) => id);
}

/** Removes what is over: keys an hour after their end, and the counts of tokens that nobody can exchange any more. */
export async function removeEnded(client: PoolClient, nowMs: number): Promise<void> {
  const at = (ms: number) => [new Date(ms).toISOString()];
  await client.query(
    'delete from lodestone.keys where workload is not null and expires_at <= $1',
    at(nowMs - workloadKeptMs),
  );
  await client.query('delete from lodestone.token_exchanges where ends_at <= $1', at(nowMs));
}
