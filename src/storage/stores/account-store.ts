/** Stores accounts with their aliases, in the form that the request path holds in memory. */
import { asc, count, eq, getTableColumns, type InferSelectModel, inArray, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Account, Alias } from '../../domain/account.js';
import { policyOfStored, policyToStore } from '../../policy/policy.js';
import type { Database } from '../database.js';
import type { AccountStore } from '../store.js';
import { budgetText, type ProjectRow, projectOf, readBudget } from './project-rows.js';
import { accounts, aliases } from './tables.js';

/** Each account with all of its projects, in one query. */
export const accountColumns = {
  ...getTableColumns(accounts),
  projects: sql<
    ProjectRow[]
  >`(select json_agg(to_json(p) order by p.is_default desc, p.created_at, p.id) from lodestone.projects p where p.account_id = ${accounts.id})`,
};
type AccountRow = InferSelectModel<typeof accounts> & { projects: ProjectRow[] };
type AliasRow = InferSelectModel<typeof aliases>;

/** The order in which memory has them, because they are created there one after another. */
export const aliasesInOrder = [asc(aliases.createdAt), asc(aliases.name)];

/** Folds the rows of accounts joined with aliases. The rows of one account stand together. */
export function foldAccounts(rows: readonly { account: AccountRow; alias: AliasRow | null }[]): Account[] {
  const found = new Map<string, Account>();
  for (const { account: row, alias } of rows) {
    const account = found.get(row.id) ?? accountOf(row);
    found.set(row.id, account);
    if (alias) account.aliases.set(alias.name, aliasOf(alias));
  }
  return [...found.values()];
}

function accountOf({ requestsPerMinute, tokensPerMinute, fallbackModels, routingPolicy, ...row }: AccountRow): Account {
  return {
    ...row,
    limits: { requestsPerMinute, tokensPerMinute },
    aliases: new Map(),
    fallback: storedModels(fallbackModels),
    policy: policyOfStored(routingPolicy),
    budget: readBudget(row.budget),
    projects: new Map(row.projects.map((project) => [project.id, projectOf(project)])),
  };
}

/** The account stays readable whatever the column contains. */
function storedModels(stored: unknown): string[] {
  return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
}

function aliasOf({ accountId: _, ...alias }: AliasRow): Alias {
  return alias;
}

export function accountStore(database: Database): AccountStore {
  return {
    async create(account) {
      const made = await database.query((db) =>
        db.insert(accounts).values(account).onConflictDoNothing().returning({ id: accounts.id }),
      );
      return made.length > 0 ? 'created' : 'email_taken';
    },

    async find(id) {
      const rows = await database.query((db) =>
        db
          .select({ account: accountColumns, alias: aliases })
          .from(accounts)
          .leftJoin(aliases, eq(aliases.accountId, accounts.id))
          .where(eq(accounts.id, id))
          .orderBy(...aliasesInOrder),
      );
      return foldAccounts(rows)[0] ?? null;
    },

    async findId(email) {
      const rows = await database.query((db) =>
        db.select({ id: accounts.id }).from(accounts).where(sql`lower(${accounts.email}) = ${email.toLowerCase()}`),
      );
      return rows[0]?.id ?? null;
    },

    async list() {
      const rows = await database.query((db) =>
        db
          .select({ account: accountColumns, alias: aliases })
          .from(accounts)
          .leftJoin(aliases, eq(aliases.accountId, accounts.id))
          .orderBy(accounts.id, ...aliasesInOrder),
      );
      return foldAccounts(rows);
    },

    async count() {
      const rows = await database.query((db) => db.select({ n: count() }).from(accounts));
      return rows[0]?.n ?? 0;
    },

    balances: (ids) =>
      database.query((db) =>
        db
          .select({
            id: accounts.id,
            balancePico: accounts.balancePico,
            usagePico: accounts.usagePico,
            creditLimitPico: accounts.creditLimitPico,
          })
          .from(accounts)
          .where(inArray(accounts.id, [...ids])),
      ),

    async update(id, { limits, fallback, policy, budget, ...change }) {
      const columns = {
        ...change,
        ...limits,
        ...(budget !== undefined && { budget: budgetText(budget) }),
        ...(fallback && { fallbackModels: fallback.length > 0 ? fallback : null }),
        ...(policy && { routingPolicy: policyToStore(policy) }),
      };
      if (Object.keys(columns).length === 0) return;
      await database.query((db) => db.update(accounts).set(columns).where(eq(accounts.id, id)));
    },
  };
}

/** Orders parallel calls: the second one sees what the first has made. Keys are created under the same lock. */
export async function lockAccount(db: NodePgDatabase, accountId: string): Promise<void> {
  await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for('update');
}
