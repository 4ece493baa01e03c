/** Low balances and what is told about them: thresholds, crossings, and notices on their way. */

/** How far a balance has fallen: under the account's threshold, or to zero and below, where requests are refused. */
export type BalanceLevel = 'low' | 'exhausted';

/** One crossing, to be told once. */
export interface BalanceNotice {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly level: BalanceLevel;
  /** When it was noticed. */
  readonly balancePico: bigint;
  readonly thresholdPico: bigint;
  readonly createdAt: number;
  /** This one included. */
  readonly attempts: number;
}

export interface NoticeStore {
  /** The account's own threshold; null = the service's. 0 = no notices. */
  threshold(accountId: string): Promise<bigint | null>;
  setThreshold(accountId: string, thresholdPico: bigint): Promise<void>;
  /**
   * Holds every balance against its threshold and makes a notice for each that has fallen since; the number made. A fleet does
   * it once in `everyMs`, one process at a time, so a crossing makes one notice.
   */
  lookForCrossings(look: { nowMs: number; everyMs: number; defaultPico: bigint; limit: number }): Promise<number>;
  /** Notices that are due, taken so that no other process takes them before `untilMs`. */
  take(due: { nowMs: number; untilMs: number; limit: number }): Promise<BalanceNotice[]>;
  delivered(id: string, nowMs: number): Promise<void>;
  /** null = it is given up. */
  tryAgainAt(id: string, atMs: number | null): Promise<void>;
}
