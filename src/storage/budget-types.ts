/** The interface of the store of budgets and of what was spent by day. */
import type { Budget, BudgetNode } from '../domain/organisation.js';

export interface BudgetStore {
  /** The pico-dollars spent since the beginning of a UTC day, as far as the store has them. */
  spentSince(node: BudgetNode, fromMs: number): Promise<bigint>;
  /** The same for every project of an account. Projects without any have no entry. */
  spentOfProjects(accountId: string, fromMs: number): Promise<Map<string, bigint>>;
  /**
   * Sets a budget, whose current period began at `fromMs`, and arms the thresholds that lie above what is spent. What was billed has to be
   * in the store before.
   */
  set(node: BudgetNode, budget: Budget | null, fromMs: number): Promise<void>;
}
