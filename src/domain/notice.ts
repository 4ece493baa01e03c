/** Low balances, budgets, models that retire, and the notices about them: thresholds, crossings and delivery. */
import type { BudgetPeriod } from './organisation.js';

/** How far a balance has fallen: below the account's threshold, or to zero and below, where requests are refused. */
export type BalanceLevel = 'low' | 'exhausted';

/** How a notice is delivered: to the webhook, and by mail where that is set up. */
interface MoneyNotice {
  readonly isSent: boolean;
  readonly isMailed: boolean;
  /** Owners and billing; of a credential owners and admins. */
  readonly mailTo: readonly string[];
}

/** One crossing of a threshold. It is reported once. */
export interface BalanceNotice extends MoneyNotice {
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

/** A threshold of a budget was reached. It is reported once in a period. */
export interface BudgetNotice extends MoneyNotice {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  /** null for the account's own budget. */
  readonly projectId: string | null;
  readonly projectName: string | null;
  /** The part of the limit. */
  readonly threshold: number;
  readonly limitPico: bigint;
  readonly spentPico: bigint;
  readonly period: BudgetPeriod;
  /** null where the period never ends. */
  readonly endsAt: number | null;
  readonly createdAt: number;
  readonly attempts: number;
}

/** A provider has refused a customer's own credential. It is reported once, until the credential has served again. */
export interface CredentialNotice extends MoneyNotice {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly projectId: string | null;
  readonly credentialId: string;
  readonly provider: string;
  readonly name: string;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly attempts: number;
}

/** A period of budgets that is under way. */
export interface BudgetPeriodStart {
  readonly period: BudgetPeriod;
  /** Days since the epoch. */
  readonly fromDay: number;
  readonly endMs: number | null;
}

/** A model that an account uses retires. It is reported once for each model and account. */
export interface RetirementNotice {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  /** `{creator}/{model}`. */
  readonly model: string;
  /** The first day without it. */
  readonly date: string;
  readonly replacedBy: string | null;
  /** The routes that retire, and that the account has used. */
  readonly routes: readonly string[];
  /** What names the model in the account's settings: `alias/{name}`, and entries of the fallback chain. */
  readonly names: readonly string[];
  readonly createdAt: number;
  readonly attempts: number;
}

export type Notice = BalanceNotice | BudgetNotice | CredentialNotice | RetirementNotice;

/** A route that retires soon. */
export interface RetiringRoute {
  readonly route: string;
  readonly model: string;
  readonly date: string;
  readonly replacedBy: string | null;
}

/** A name in an account's settings that leads to routes: `alias/{name}`, or an entry of its fallback chain. */
interface RouteName {
  readonly accountId: string;
  readonly name: string;
  readonly routes: readonly string[];
}

export interface NoticeStore {
  /** The account's own threshold; null for the service's default, 0 for no notices. */
  threshold(accountId: string): Promise<bigint | null>;
  setThreshold(accountId: string, thresholdPico: bigint): Promise<void>;
  /**
   * Compares every balance with its threshold and creates a notice for each that has fallen since. Returns the number of
   * notices. The same for the thresholds of budgets. A fleet does this once in `everyMs`, in one process at a time, so a crossing makes
   * one notice.
   */
  lookForCrossings(look: {
    nowMs: number;
    everyMs: number;
    defaultPico: bigint;
    limit: number;
    periods: readonly BudgetPeriodStart[];
  }): Promise<number>;
  /** Creates a notice for each account that has used one of the routes since a moment, and was not told of its model yet. */
  lookForRetirements(look: { nowMs: number; sinceMs: number; routes: readonly RetiringRoute[] }): Promise<number>;
  /** What names one of the routes, or `auto/` of its model, in the settings of accounts; at most 10,000 names. */
  namesOf(routes: readonly RetiringRoute[]): Promise<RouteName[]>;
  /** Takes notices that are due. No other process takes them before `untilMs`. */
  take(due: { nowMs: number; untilMs: number; limit: number }): Promise<Notice[]>;
  delivered(id: string, nowMs: number): Promise<void>;
  /** A part of the delivery is done; the rest is tried again. */
  partlyDelivered(id: string, part: 'sent' | 'mailed', nowMs: number): Promise<void>;
  /** Schedules the next attempt; null gives the notice up. */
  tryAgainAt(id: string, atMs: number | null): Promise<void>;
}
