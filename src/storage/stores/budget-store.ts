/** Stores budgets of accounts and projects, and reads what was spent in a period from the sums by day. */
import type { BudgetNode } from '../../domain/organisation.js';
import type { Database } from '../database.js';
import type { BudgetStore } from '../store.js';
import { budgetText } from './project-rows.js';

const dayMs = 86_400_000;

const spentSince = `
select coalesce(sum(spent_pico), 0) as pico from lodestone.project_days
where account_id = $1 and ($2::text is null or project_id = $2) and day >= $3`;

/** What every node of an account has spent since the day on which its own period began. */
const spentOfProjects = `
select project_id, sum(spent_pico) as pico from lodestone.project_days
where account_id = $1 and day >= $2 group by 1`;

/** A threshold that lies above what is spent may be reached again. */
const armAgain = `
update lodestone.budget_notices set ended_at = now()
where account_id = $1 and coalesce(project_id, '') = coalesce($2::text, '') and ended_at is null and period = $3 and from_day = $4
  and threshold * $5::numeric > $6::numeric`;

export function budgetStore(database: Database): BudgetStore {
  const spent = async ({ accountId, projectId }: BudgetNode, fromMs: number): Promise<bigint> => {
    const values = [accountId, projectId, Math.floor(fromMs / dayMs)];
    return (await database.value<bigint>('budget-spent', spentSince, values))!;
  };
  return {
    spentSince: spent,

    async spentOfProjects(accountId, fromMs) {
      const values = [accountId, Math.floor(fromMs / dayMs)];
      const rows = await database.statement<{ project_id: string; pico: bigint }>(
        'budget-spent-of-projects',
        spentOfProjects,
        values,
      );
      return new Map(rows.map(({ project_id, pico }) => [project_id, pico]));
    },

    async set(node, budget, fromMs) {
      const { accountId, projectId } = node;
      const [table, id] = projectId === null ? ['accounts', accountId] : ['projects', projectId];
      await database.transaction(async (_db, client) => {
        await client.query(`update lodestone.${table} set budget = $2 where id = $1`, [id, budgetText(budget)]);
        if (budget === null) return;
        const day = Math.floor(fromMs / dayMs);
        const { rows } = await client.query<{ pico: bigint }>(spentSince, [accountId, projectId, day]);
        const { opening, period, limitPico } = budget;
        const openingPico = opening && opening.day >= day ? opening.spentPico : 0n;
        const spentPico = rows[0]!.pico + openingPico;
        await client.query(armAgain, [accountId, projectId, period, day, String(limitPico), String(spentPico)]);
      });
    },
  };
}
