/** Budgets in memory: what was spent is the sum of the generations. */
import type { Account } from '../../src/domain/account.js';
import type { Generation } from '../../src/domain/generation.js';
import { type BudgetNode, defaultProjectId } from '../../src/domain/organisation.js';
import type { BudgetStore } from '../../src/storage/store.js';

interface Rows {
  readonly accountRows: ReadonlyMap<string, Account>;
  readonly generationRows: ReadonlyMap<string, Generation>;
}

export function memoryBudgets(rows: Rows, answer: <T>(read: () => T) => Promise<T>): BudgetStore {
  const spent = ({ accountId, projectId }: BudgetNode, fromMs: number): bigint => {
    let sum = 0n;
    for (const row of rows.generationRows.values()) {
      const project = row.projectId ?? defaultProjectId(row.accountId);
      const isOf = row.accountId === accountId && (projectId === null || project === projectId);
      if (isOf && row.billed && row.createdAt >= fromMs) sum += row.costPico;
    }
    return sum;
  };
  return {
    spentSince: (node, fromMs) => answer(() => spent(node, fromMs)),
    spentOfProjects: (accountId, fromMs) =>
      answer(() => {
        const ids = [...(rows.accountRows.get(accountId)?.projects.keys() ?? [])];
        return new Map(ids.map((projectId) => [projectId, spent({ accountId, projectId }, fromMs)]));
      }),
    set: ({ accountId, projectId }, budget) =>
      answer(() => {
        const account = rows.accountRows.get(accountId)!;
        (projectId === null ? account : account.projects.get(projectId)!).budget = budget;
      }),
  };
}
