/** The interfaces of the store of budgets and of what was spent by day, and of what a fleet holds while Redis is out of reach. */
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

/** Where a process counts what it holds of balances, budgets and caps. */
export interface SpendProcess {
  readonly process: string;
  /** It cannot reach Redis. */
  readonly wantsStore: boolean;
  /** What it holds is in the store, and it asks nobody else. */
  readonly inStore: boolean;
}

/** What a process holds of a subject, and what it has delivered of it that may not be settled yet. */
export interface HeldSpend {
  readonly subject: string;
  readonly accountId: string;
  readonly heldPico: bigint;
  readonly unsettledPico: bigint;
  readonly requests: number;
}

/**
 * What processes hold while they cannot ask Redis. Who admits a request reads the turn of its account first, and writes only where no other
 * process has had a turn since.
 */
export interface SpendStore {
  /** Says where this process counts, and returns what the others say that have said something lately. */
  join(own: SpendProcess): Promise<readonly SpendProcess[]>;
  /** The process has ended. */
  leave(process: string): Promise<void>;
  /** What all others hold of an account. */
  heldByOthers(process: string, accountId: string): Promise<{ turn: string; held: readonly HeldSpend[] }>;
  /** Takes a turn. False, and nothing is written, where another process was faster. */
  take(process: string, accountId: string, turn: string, held: readonly HeldSpend[]): Promise<boolean>;
  /** Replaces what is written of these subjects. */
  write(process: string, held: readonly HeldSpend[]): Promise<void>;
  /** Replaces all that is written of the process, and forgets processes that have died. */
  writeAll(process: string, held: readonly HeldSpend[]): Promise<void>;
}
