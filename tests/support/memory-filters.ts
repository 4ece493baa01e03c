/** The order of generations and sums of the ledger, for the memory store. */
import type { Account } from '../../src/domain/account.js';
import type { Generation } from '../../src/domain/generation.js';
import type { LedgerEntry } from '../../src/domain/ledger-entry.js';
import type { GenerationSort, LedgerFilter } from '../../src/storage/store.js';

const figures: Partial<Record<GenerationSort, (row: Generation) => number>> = {
  cost: ({ costPico }) => Number(costPico),
  latency: ({ latencyMs }) => latencyMs,
  tokens: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
};

export function inOrder(sort: GenerationSort = 'newest'): (a: Generation, b: Generation) => number {
  const newest = (a: Generation, b: Generation) => (a.id < b.id ? 1 : -1);
  const figure = figures[sort];
  if (figure) return (a, b) => figure(b) - figure(a) || newest(a, b);
  return sort === 'oldest' ? (a, b) => newest(b, a) : newest;
}

export function postedSums(rows: readonly LedgerEntry[], accountId: string) {
  const sum = (kind: LedgerEntry['kind']) =>
    rows
      .filter((row) => row.accountId === accountId && row.kind === kind)
      .reduce((total, { amountPico }) => total + amountPico, 0n);
  return { creditPico: sum('credit'), adjustmentPico: sum('adjustment') };
}

/** A store never hands out its own objects. */
export function copyOf(account: Account | undefined): Account | null {
  if (!account) return null;
  const projects = new Map([...account.projects].map(([id, project]) => [id, { ...project }]));
  return { ...account, limits: { ...account.limits }, aliases: new Map(account.aliases), projects };
}

/** The newest first, behind the entry `before`. */
export function ledgerPage(
  entries: readonly LedgerEntry[],
  accountId: string,
  limit: number,
  { before, kind }: LedgerFilter,
): LedgerEntry[] {
  const rows = entries.filter((row) => row.accountId === accountId).reverse();
  const from = before === undefined ? 0 : rows.findIndex(({ id }) => id === before) + 1 || rows.length;
  return rows
    .slice(from)
    .filter((row) => kind === undefined || row.kind === kind)
    .slice(0, limit);
}
