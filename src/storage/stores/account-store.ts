/** Stores accounts with their aliases, in the form that the request path holds in memory. */
import { asc, eq, getTableColumns, type InferSelectModel, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Account, Alias } from '../../domain/account.js';
import { noCredentials } from '../../domain/credential.js';
import { policyOfStored, policyToStore } from '../../policy/policy.js';
import type { Database } from '../database.js';
import type { AccountStore } from '../store.js';
import { type CredentialRow, credentialOfRow } from './credential-store.js';
import { budgetText, type ProjectRow, projectOf, readBudget } from './project-rows.js';
import { accounts, aliases, withoutNul } from './tables.js';

/** Each account with all of its projects and credentials, in one query. */
export const accountColumns = {
  ...getTableColumns(accounts),
  projects: sql<
    ProjectRow[]
  >`(select json_agg(to_json(p) order by p.is_default desc, p.created_at, p.id) from lodestone.projects p where p.account_id = ${accounts.id})`,
  credentials: sql<
    CredentialRow[] | null
  >`(select json_agg(to_json(c) order by c.id) from lodestone.credentials c where c.account_id = ${accounts.id})`,
};
type AccountRow = InferSelectModel<typeof accounts> & {
  projects: ProjectRow[];
  credentials: CredentialRow[] | null;
};
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
    credentials: row.credentials === null ? noCredentials : row.credentials.map(credentialOfRow),
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
    async create({ budget = null, ...account }) {
      const made = await database.query((db) =>
        db
          .insert(accounts)
          .values({ ...account, budget: budgetText(budget) })
          .onConflictDoNothing()
          .returning({ id: accounts.id }),
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

    findId: (email) =>
      database.value('account-by-email', 'select id from lodestone.accounts where lower(email) = $1', [
        withoutNul(email.toLowerCase()),
      ]),

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
      return (await database.value<number>('count-accounts', 'select count(*) from lodestone.accounts', []))!;
    },

    balances: (ids) =>
      database.statement(
        'balances',
        `select id, balance_pico as "balancePico", usage_pico as "usagePico", credit_limit_pico as "creditLimitPico"
         from lodestone.accounts where id = any($1)`,
        [ids],
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
