/** Stores the projects of accounts, and counts their keys. */
import { and, eq, isNull, ne, or, type SQL, sql } from 'drizzle-orm';
import { type ApiKey, keyProjectId } from '../../domain/account.js';
import { defaultProjectId } from '../../domain/organisation.js';
import type { Database } from '../database.js';
import type { ProjectChange, ProjectStore } from '../store.js';
import { lockAccount } from './account-store.js';
import { budgetText } from './project-rows.js';
import { keys, projects } from './tables.js';
import { endUntrusted, removeOfProject } from './workload-store.js';

export function projectStore(database: Database): ProjectStore {
  return {
    create: (project, limit) =>
      database.transaction(async (db) => {
        await lockAccount(db, project.accountId);
        const taken = await db
          .select({ name: projects.name })
          .from(projects)
          .where(eq(projects.accountId, project.accountId));
        if (taken.some(({ name }) => name === project.name)) return 'exists';
        if (taken.length >= limit) return 'limit';
        const { id, accountId, name, isDefault, createdAt, importedFrom } = project;
        const row = { id, accountId, name, isDefault, createdAt, importedFrom };
        await db.insert(projects).values({ ...columnsOf(project), ...row });
        return 'created';
      }),

    update: (accountId, id, change, nowMs) =>
      database.transaction(async (db) => {
        await lockAccount(db, accountId);
        const isOther = and(
          eq(projects.accountId, accountId),
          ne(projects.id, id),
          eq(projects.name, change.name ?? ''),
        );
        if (change.name !== undefined && (await db.$count(projects, isOther)) > 0)
          return { outcome: 'exists', ended: [] };
        const isProject = and(eq(projects.accountId, accountId), eq(projects.id, id));
        const columns = columnsOf(change);
        const isThere =
          Object.keys(columns).length === 0
            ? (await db.$count(projects, isProject)) > 0
            : (await db.update(projects).set(columns).where(isProject).returning({ id: projects.id })).length > 0;
        if (!isThere) return { outcome: 'gone', ended: [] };
        const { trust } = change;
        return { outcome: 'changed', ended: trust ? await endUntrusted(db, { accountId, id, trust }, nowMs) : [] };
      }),

    delete: (accountId, id) =>
      database.transaction(async (db) => {
        await lockAccount(db, accountId);
        const kept = and(eq(keys.accountId, accountId), eq(keys.projectId, id), isNull(keys.workload));
        if ((await db.$count(keys, kept)) > 0) return { outcome: 'not_empty', ended: [] };
        const ended = await removeOfProject(db, accountId, id);
        const gone = await db
          .delete(projects)
          .where(and(eq(projects.accountId, accountId), eq(projects.id, id), eq(projects.isDefault, false)))
          .returning({ id: projects.id });
        return { outcome: gone.length > 0 ? 'deleted' : 'gone', ended };
      }),

    async keyCounts(accountId) {
      const rows = await database.query((db) =>
        db
          .select({ projectId: keys.projectId, manages, n: sql<number>`count(*)::int` })
          .from(keys)
          .where(and(eq(keys.accountId, accountId), isNull(keys.workload)))
          .groupBy(keys.projectId, manages),
      );
      const counts = new Map<string, number>();
      for (const { projectId, manages: isManager, n } of rows) {
        const id = projectId ?? (isManager ? null : defaultProjectId(accountId));
        if (id !== null) counts.set(id, (counts.get(id) ?? 0) + n);
      }
      return counts;
    },
  };
}

const manages = sql<boolean>`coalesce(${keys.terms} ->> 'kind', '') = 'management'`;

/** The keys that count against the same limit: those of the key's project, or the management keys of the whole account. Those of workloads do not count. */
export function besideKey(key: ApiKey): SQL | undefined {
  const projectId = keyProjectId(key);
  const ofAccount = and(eq(keys.accountId, key.accountId), isNull(keys.workload));
  if (projectId === null) return and(ofAccount, isNull(keys.projectId), manages);
  const named = eq(keys.projectId, projectId);
  if (projectId !== defaultProjectId(key.accountId)) return and(ofAccount, named);
  return and(ofAccount, or(named, and(isNull(keys.projectId), sql`not ${manages}`)));
}

function columnsOf({ name, budget, limits, policy, trust }: ProjectChange): Partial<typeof projects.$inferInsert> {
  return {
    ...(name !== undefined && { name }),
    ...(budget !== undefined && { budget: budgetText(budget) }),
    ...limits,
    ...(policy !== undefined && { routingPolicy: policy }),
    ...(trust !== undefined && { trust }),
  };
}
