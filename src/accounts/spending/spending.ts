/** The interface of holds on balances, budgets and caps, in one process or in a fleet. */

import type { PicoUsd } from '../../base/money.js';
import type { MaybePromise } from '../../base/turn.js';
import type { SpendAnswer, SpendAsk } from '../../cluster/shared-spend.js';
import type { Account, Identity } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Bound, InFlight } from './spend-bounds.js';

/** The hold of one request. */
export interface SpendHold {
  /**
   * Ends it; the cost, if any, has been taken off the balance before. `countedPico` is what budgets and caps count, where that is not the
   * cost. Further calls do nothing.
   */
  release(costPico: PicoUsd, countedPico?: PicoUsd): void;
}

/** What the request path and the API need of holds, in one process or in a fleet. */
export interface Spending {
  /** How many requests cost more than they had held. */
  readonly exceeded: number;
  /** Whether a fleet counts in the store, or each process alone, because Redis was out of reach a moment ago. */
  readonly isElsewhere: boolean;
  /** Throws budget_exceeded or key_limit_exceeded where one is spent, whatever is in flight. Without any it waits for nothing. */
  checkLimits(identity: Identity): MaybePromise<void>;
  /** The refusal of an account whose balance is spent, with what is held where it is bounded; null where something is left. */
  spentBalance(account: Account): MaybePromise<GatewayError | null>;
  /**
   * Throws insufficient_credits, budget_exceeded or key_limit_exceeded. Without a budget and a cap it waits for nothing. Of a request that
   * only a customer's own credentials may serve, the balance pays a fee at most, for which nothing is held.
   */
  take(identity: Identity, estimatePico: PicoUsd, atMs: number, holdsBalance?: boolean): MaybePromise<SpendHold>;
  /** What has to be asked of the shared state before a request is taken; null where nothing has to. */
  askOf(identity: Identity, estimatePico: PicoUsd, atMs: number, holdsBalance?: boolean): SpendAsk | null;
  /** Like `take`, with what the shared state has answered; null where it was out of reach. */
  takeAs(identity: Identity, ask: SpendAsk, answer: SpendAnswer | null): MaybePromise<SpendHold>;
  /** What is held of an account, and for how many requests. */
  inFlight(account: Account): MaybePromise<Readonly<InFlight>>;
  /** What is held of each of the bounds, in their order. */
  heldOf(bounds: readonly Bound[]): MaybePromise<readonly PicoUsd[]>;
}
