/** Budgets in memory: what was spent is the sum of the generations. Beside them, what processes hold while Redis is out of reach. */
import type { Account } from '../../src/domain/account.js';
import type { Generation } from '../../src/domain/generation.js';
import { type BudgetNode, defaultProjectId } from '../../src/domain/organisation.js';
import type { BudgetStore, HeldSpend, SpendProcess, SpendStore } from '../../src/storage/store.js';

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

/** Nobody dies here. */
export function memorySpend(
  answer: <T>(read: () => T) => Promise<T>,
): SpendStore & { held(process: string): HeldSpend[] } {
  const processes = new Map<string, SpendProcess>();
  const turns = new Map<string, bigint>();
  const held = new Map<string, Map<string, HeldSpend>>();
  const write = (process: string, rows: readonly HeldSpend[]) => {
    const own = held.get(process) ?? new Map<string, HeldSpend>();
    held.set(process, own);
    for (const row of rows) own.set(`${row.accountId} ${row.subject}`, row);
  };
  return {
    held: (process) => [...(held.get(process)?.values() ?? [])],
    join: (own) =>
      answer(() => {
        processes.set(own.process, own);
        return [...processes.values()].filter(({ process }) => process !== own.process);
      }),
    leave: (process) => answer(() => void processes.delete(process)),
    heldByOthers: (process, accountId) =>
      answer(() => ({
        turn: String(turns.get(accountId) ?? 0n),
        held: [...held].flatMap(([owner, rows]) =>
          owner === process ? [] : [...rows.values()].filter((row) => row.accountId === accountId),
        ),
      })),
    take: (process, accountId, turn, rows) =>
      answer(() => {
        if (String(turns.get(accountId) ?? 0n) !== turn) return false;
        turns.set(accountId, BigInt(turn) + 1n);
        write(process, rows);
        return true;
      }),
    write: (process, rows) => answer(() => write(process, rows)),
    writeAll: (process, rows) =>
      answer(() => {
        held.delete(process);
        write(process, rows);
      }),
  };
}
