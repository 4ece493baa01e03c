/**
 * What a customer's own credentials change: before the walk the candidates of a plan and who needs a balance, in the walk which credential of
 * a route is tried next and what an attempt shows of one.
 */

import { spentBalanceRefusal } from '../accounts/spending/spend-bounds.js';
import { quoted } from '../base/quoted.js';
import { isPending, type MaybePromise } from '../base/turn.js';
import type { Route } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Paused } from '../health/own-health.js';
import { type Failure, type Meaning, refusesCredential } from '../providers/classify/failure.js';
import type { Exchange, Plan, Unpaid } from './handover.js';
import type { PipelinePorts } from './ports.js';

type Ports = Pick<PipelinePorts, 'own'>;

/** The plan with the credentials that the identity may use; the same plan where it has none. */
export function withOwn({ own }: Ports, identity: Identity, plan: Plan): Plan {
  if (identity.account.credentials.length === 0) return plan;
  const routes = own!.candidatesOf(identity, plan.routes);
  if (routes === plan.routes) return plan;
  const { id, alias, name, kind } = plan;
  return { id, alias, name, kind, routes, hasOwn: true };
}

/** Whether a credential of the account may serve the identity, so that its balance is looked at with the candidates and not before. */
export function mayUseOwn({ account, project }: Identity): boolean {
  for (const { projectId } of account.credentials) if (projectId === null || projectId === project.id) return true;
  return false;
}

/** What an empty balance rules out, of an account with credentials of its own; null for any other, whose balance was looked at before. */
export function unpaidBy({ own }: Ports, identity: Identity): Unpaid | null {
  if (!mayUseOwn(identity)) return null;
  const refusal = spentBalanceRefusal(identity.account);
  return refusal && { refusal, hasFee: own!.hasFee };
}

export function usesOperators(routes: readonly Route[]): boolean {
  for (const { credential } of routes) if (credential === undefined) return true;
  return false;
}

/** The operator's candidates, of lists that are kept. */
const operatorsByList = new WeakMap<readonly Route[], readonly Route[]>();

/** The candidates whose list price the budgets of the account count. */
export function countedRoutes({ account }: Identity, routes: readonly Route[]): readonly Route[] {
  if (account.budgetsCountOwnKeys) return routes;
  let operators = operatorsByList.get(routes);
  if (operators === undefined) {
    operators = routes.filter(({ credential }) => credential === undefined);
    operatorsByList.set(routes, operators);
  }
  return operators;
}

/**
 * Takes what a request needs. Where a bounded balance does not admit the operator's candidates, the customer's own go on without them; the
 * refusal stands where there are none.
 */
export function takeOwn(exchange: Exchange, take: (isFirst: boolean) => MaybePromise<void>): MaybePromise<void> {
  const takeWithout = (error: unknown): MaybePromise<void> => {
    leaveOutOperators(exchange, error);
    return take(false);
  };
  try {
    const taking = take(true);
    return isPending(taking) ? taking.catch(takeWithout) : taking;
  } catch (error) {
    return takeWithout(error);
  }
}

/** Throws the refusal where it stands. */
function leaveOutOperators(exchange: Exchange, refusal: unknown): void {
  const isUnpaid = refusal instanceof GatewayError && refusal.condition === 'insufficient_credits';
  const { gated, holdsBalance } = exchange;
  const eligible = gated.eligible.filter(({ credential }) => credential !== undefined);
  if (!isUnpaid || !holdsBalance || eligible.length === 0) throw refusal;
  exchange.gated = { ...gated, eligible };
  // The entries of the chain are gated when they are walked.
  exchange.unpaid = { refusal, hasFee: false };
  exchange.holdsBalance = false;
}

/** How an attempt ended, as far as its credential is concerned. */
type Ended = { readonly kind: 'failure'; readonly failure: Failure } | { readonly kind: 'answer' | 'stream' | 'gone' };

interface Group {
  readonly group?: readonly Route[];
}

/** A failure for which the credential is to blame, and not the provider: another credential may do better. */
const ofCredential: ReadonlySet<Meaning> = new Set(['auth', 'billing', 'rate_limit', 'quota']);

/** The first candidate of each route, of lists that are kept. */
const headsByGroup = new WeakMap<readonly Route[], readonly Route[]>();

/** The candidate of each route that is tried first. */
export function headsOf(group: readonly Route[]): readonly Route[] {
  if (group.length < 2) return group;
  let heads = headsByGroup.get(group);
  if (heads === undefined) {
    const ids = new Set<string>();
    heads = group.filter(({ id }) => !ids.has(id) && ids.add(id));
    headsByGroup.set(group, heads);
  }
  return heads;
}

/** The same route with its next credential, after an attempt has failed; null where the route has none, or the failure was the provider's. */
export function afterFailure(walk: Group, route: Route, { meaning }: Pick<Failure, 'meaning'>): Route | null {
  if (walk.group === undefined) return null;
  return route.credential === undefined || ofCredential.has(meaning) ? nextOf(walk.group, route) : null;
}

/** The same after a candidate was not tried. A customer's is replaced only where its credential is the reason. */
export function afterObstacle(walk: Group, route: Route, verdict: string): Route | null {
  if (walk.group === undefined) return null;
  const isOfCredential = verdict === 'credential_failing' || verdict === 'credential_held';
  return route.credential === undefined || isOfCredential ? nextOf(walk.group, route) : null;
}

function nextOf(group: readonly Route[], route: Route): Route | null {
  const next = group[group.indexOf(route) + 1];
  return next !== undefined && next.id === route.id ? next : null;
}

interface Pause {
  readonly verdict: Paused;
  readonly param: null;
}

/** Why `auto/` does not try a customer's credential now. An explicit id tries it all the same. */
export function pauseOf({ own }: Ports, { kind }: Pick<Plan, 'kind'>, { credential }: Route): Pause | null {
  if (credential === undefined || kind === 'pin') return null;
  const verdict = own!.health.pauseOf(credential);
  return verdict === null ? null : { verdict, param: null };
}

interface Begun {
  readonly route: Route;
  readonly startedAtMs: number;
}

/** True where the outcome says all about the credential, and nothing about the route. */
export function learnOfCredential({ own }: Ports, { route, startedAtMs }: Begun, outcome: Ended): boolean {
  const credential = route.credential!;
  const { health } = own!;
  if (outcome.kind === 'gone') return false;
  if (outcome.kind !== 'failure') {
    health.succeeded(credential, startedAtMs);
    own!.note(route, null);
    return false;
  }
  const { meaning, disputed, retryAfterMs = null, quote } = outcome.failure;
  if (disputed || !ofCredential.has(meaning)) return false;
  if (meaning === 'auth') {
    if (!refusesCredential(outcome.failure)) return false;
    health.refuse(credential);
    own!.note(route, quote.replace(prefixOf(credential.name), ''));
  } else if (meaning === 'quota') health.useUp(credential, retryAfterMs);
  else if (meaning === 'rate_limit' && retryAfterMs !== null) health.wait(credential, retryAfterMs);
  return true;
}

const prefixOf = (name: string): string => `your credential ${quoted(name)}: `;

/** The failure without anything of the secret, and with the name of the credential where its owner can do something about it. */
export function ownFailure({ own }: Ports, route: Route, failure: Failure): Failure {
  const { credential } = route;
  if (credential === undefined) return failure;
  const quote = own!.mask(route, failure.quote);
  const { details: _, ...rest } = failure;
  return { ...rest, quote: ofCredential.has(failure.meaning) ? prefixOf(credential.name) + quote : quote };
}
