/** What credentials of a customer change before the walk: the candidates of a plan, and who needs a balance. */
import { spentBalanceRefusal } from '../accounts/spending/spend-bounds.js';
import type { MaybePromise } from '../base/maybe-promise.js';
import type { Route } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Exchange, PipelinePorts, Plan } from './handover.js';

type Ports = Pick<PipelinePorts, 'own'>;

/** The plan with the credentials that the identity may use; the same plan where it has none. */
export function withOwn({ own }: Ports, identity: Identity, plan: Plan): Plan {
  if (identity.account.credentials.length === 0) return plan;
  const routes = own!.candidatesOf(identity, plan.routes);
  return routes === plan.routes ? plan : { ...plan, routes, hasOwn: true };
}

/** Whether a credential of the account may serve the identity, so that its balance is looked at with the candidates and not before. */
export function mayUseOwn({ account, project }: Identity): boolean {
  const { credentials } = account;
  return credentials.length > 0 && credentials.some(({ projectId }) => projectId === null || projectId === project.id);
}

/** What an empty balance rules out, of an account with credentials of its own; nothing for any other, whose balance was looked at before. */
export function unpaidBy({ own }: Ports, identity: Identity): { unpaid?: GatewayError | null; hasFee?: boolean } {
  if (!mayUseOwn(identity)) return {};
  return { unpaid: spentBalanceRefusal(identity.account), hasFee: own!.hasFee };
}

export function usesOperators(routes: readonly Route[]): boolean {
  return routes.some(({ credential }) => credential === undefined);
}

/** The candidates whose list price the budgets of the account count. */
export function countedRoutes({ account }: Identity, routes: readonly Route[]): readonly Route[] {
  return account.budgetsCountOwnKeys ? routes : routes.filter(({ credential }) => credential === undefined);
}

/**
 * Takes what a request needs. Where a bounded balance does not admit the operator's candidates, the customer's own go on without them; the
 * refusal stands where there are none.
 */
export async function takeOwn(exchange: Exchange, take: (isFirst: boolean) => MaybePromise<void>): Promise<void> {
  try {
    await take(true);
  } catch (error) {
    const isUnpaid = error instanceof GatewayError && error.condition === 'insufficient_credits';
    const { gated, holdsBalance } = exchange;
    const eligible = gated.eligible.filter(({ credential }) => credential !== undefined);
    if (!isUnpaid || !holdsBalance || eligible.length === 0) throw error;
    exchange.gated = { ...gated, eligible };
    // The entries of the chain are gated when they are walked, and would be the operator's again.
    exchange.chain = [];
    exchange.holdsBalance = false;
    await take(false);
  }
}
