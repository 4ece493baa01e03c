/** What bounds the spending of a request: the balance, the budgets of its account and its project, and the cap of its key. */
import { type PicoUsd, usdText } from '../../base/money.js';
import type { Account, Identity } from '../../domain/account.js';
import type { Budget, BudgetPeriod } from '../../domain/organisation.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { dayMs, periodEnd } from '../keys/limit-period.js';

export type BoundKind = 'account' | 'project' | 'key';

/** Whose spending is meant. */
export interface SpendNode {
  readonly kind: BoundKind;
  readonly id: string;
  readonly accountId: string;
}

export interface Bound extends SpendNode {
  readonly period: BudgetPeriod;
  readonly limitPico: PicoUsd;
  readonly opening: Budget['opening'];
}

const noBounds: readonly Bound[] = [];

/** In the order in which a request is refused. Most requests have none. */
export function boundsOf({ key, account, project }: Identity): readonly Bound[] {
  const { limitPico, limitReset } = key.terms;
  if (limitPico === null && account.budget === null && project.budget === null) return noBounds;
  const bounds: Bound[] = [];
  if (account.budget !== null) bounds.push(budgetBound('account', account.id, account.id, account.budget));
  if (project.budget !== null) bounds.push(budgetBound('project', project.id, account.id, project.budget));
  if (limitPico !== null)
    bounds.push({
      ...{ kind: 'key', id: key.id, accountId: account.id, period: limitReset, limitPico },
      opening: undefined,
    });
  return bounds;
}

function budgetBound(kind: BoundKind, id: string, accountId: string, budget: Budget): Bound {
  return {
    kind,
    id,
    accountId,
    period: budget.period,
    limitPico: budget.limitPico,
    opening: budget.opening,
  };
}

/** What counts as spent in the period that began at `fromMs` before anything was spent here. */
export function openingPico(opening: Budget['opening'], fromMs: number): PicoUsd {
  return opening !== undefined && opening.day * dayMs >= fromMs ? opening.spentPico : 0n;
}

/** How much requests may spend in the period that began at `fromMs`. */
export function spendableIn({ limitPico, opening }: Pick<Bound, 'limitPico' | 'opening'>, fromMs: number): PicoUsd {
  return opening === undefined ? limitPico : limitPico - openingPico(opening, fromMs);
}

interface Refused {
  readonly kind: BoundKind;
  readonly fromMs: number;
  /** What requests may spend, and have spent. */
  readonly limitPico: PicoUsd;
  readonly spentPico: PicoUsd;
  readonly heldPico: PicoUsd;
}

export function boundRefusal({ key, account, project }: Identity, refused: Refused): GatewayError {
  const { kind, fromMs, limitPico, spentPico, heldPico } = refused;
  const budget = kind === 'account' ? account.budget : kind === 'project' ? project.budget : null;
  const figures = {
    limit: usdText(budget?.limitPico ?? limitPico),
    used: usdText(spentPico + openingPico(budget?.opening, fromMs)),
    held: usdText(heldPico),
  };
  if (kind === 'key') return gatewayError('key_limit_exceeded', { ...figures, resets: key.terms.limitReset });
  const period = budget?.period ?? 'never';
  const endMs = periodEnd(period, fromMs);
  return gatewayError('budget_exceeded', {
    ...figures,
    node: kind === 'account' ? 'The account' : `The project "${project.name}" (${project.id})`,
    period,
    ends: endMs === null ? null : new Date(endMs).toISOString(),
  });
}

/** What requests in flight hold. */
export interface InFlight {
  heldPico: PicoUsd;
  requests: number;
}

/** A request is admitted while something is left, and beside others only while more is left than they hold. */
export function hasRoom(leftPico: PicoUsd, { heldPico, requests }: InFlight): boolean {
  return leftPico > 0n && (requests === 0 || leftPico - heldPico > 0n);
}

/** What requests may still spend. Requests are admitted while it is above zero. */
export function spendablePico({
  balancePico,
  creditLimitPico,
}: Pick<Account, 'balancePico' | 'creditLimitPico'>): bigint {
  return balancePico + creditLimitPico;
}

/** The refusal of an account whose balance and credit limit are spent; null where something is left. */
export function spentBalanceRefusal(account: Account): GatewayError | null {
  if (spendablePico(account) > 0n) return null;
  return gatewayError('insufficient_credits', { balance: usdText(account.balancePico) });
}

/** The refusal of a bounded balance. `isSpent`: nothing would be left without the requests in flight either. */
export function balanceRefusal(balancePico: PicoUsd, { heldPico, requests }: InFlight, isSpent: boolean): GatewayError {
  const balance = usdText(balancePico);
  return gatewayError('insufficient_credits', { balance, held: usdText(heldPico), requests, isSpent });
}
