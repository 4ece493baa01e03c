/** Low balances and the notices about them: thresholds, crossings and delivery. */

/** How far a balance has fallen: below the account's threshold, or to zero and below, where requests are refused. */
export type BalanceLevel = 'low' | 'exhausted';

/** One crossing of a threshold. It is reported once. */
export interface BalanceNotice {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly level: BalanceLevel;
  /** The balance at the time of the crossing. */
  readonly balancePico: bigint;
  readonly thresholdPico: bigint;
  readonly createdAt: number;
  /** The number of delivery attempts, this one included. */
  readonly attempts: number;
}

export interface NoticeStore {
  /** The account's own threshold; null for the service's default, 0 for no notices. */
  threshold(accountId: string): Promise<bigint | null>;
  setThreshold(accountId: string, thresholdPico: bigint): Promise<void>;
  /**
   * Compares every balance with its threshold and creates a notice for each that has fallen since. Returns the number of
   * notices. A fleet does this once in `everyMs`, in one process at a time, so a crossing makes one notice.
   */
  lookForCrossings(look: { nowMs: number; everyMs: number; defaultPico: bigint; limit: number }): Promise<number>;
  /** Takes notices that are due. No other process takes them before `untilMs`. */
  take(due: { nowMs: number; untilMs: number; limit: number }): Promise<BalanceNotice[]>;
  delivered(id: string, nowMs: number): Promise<void>;
  /** Schedules the next attempt; null gives the notice up. */
  tryAgainAt(id: string, atMs: number | null): Promise<void>;
}
