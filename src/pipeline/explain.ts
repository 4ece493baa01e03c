/**
 * The dry run of a chat request: the same resolve, gate, rank and obstacles as a real request, without a call. It shows what would
 * happen, also where that is an error.
 */
import { modelRefusal } from '../accounts/keys/token.js';
import { type CredentialName, credentialOf } from '../catalogue/credential-name.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import { envelopeOf } from '../errors/envelope.js';
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import { healthKeyOf, healthOf } from '../health/route-health.js';
import { keyScopeGate, permittedRoutes } from '../policy/apply-gates.js';
import { type Counterfactual, counterfactuals } from '../policy/counterfactuals.js';
import type { RequestPreferences } from '../policy/request-preferences.js';
import type { Territory } from '../territory/territory.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { newTrail } from './exchange.js';
import { gate, wishesOf } from './gate.js';
import type { Plan, RememberedRoute, Trail } from './handover.js';
import { afterObstacle, headsOf, mayUseOwn, pauseOf, unpaidBy, withOwn } from './own-credentials.js';
import type { PipelinePorts } from './ports.js';
import { type Ranking, type Score, scores } from './rank.js';
import { alongChain, checkKind, resolveOwnChain, resolveRequested, resolveSavedChain } from './resolve.js';
import { recallRoute } from './sticky.js';
import { applyStrictness, estimatePromptTokens } from './validate.js';
import { addBreakerSkipped, nothingTried, obstacleOf, type RuledOut } from './walk/obstacles.js';
import { orderCandidates } from './walk/order-candidates.js';

type ExplainPorts = Pick<
  PipelinePorts,
  | 'catalogue'
  | 'keyLimiter'
  | 'modelStates'
  | 'territories'
  | 'health'
  | 'own'
  | 'holds'
  | 'providerKeys'
  | 'clock'
  | 'conversations'
> & { spend: Pick<PipelinePorts['spend'], 'checkLimits' | 'spentBalance'> };

interface ExplainedCandidate {
  id: string;
  /** The model id, of the request or its chain, that it is a candidate of. */
  entry: string;
  /** The place in its entry's walk, from 1; null where a gate or its provider's terms removed it. */
  rank: number | null;
  score: Score | null;
  verdict: 'eligible' | 'gated' | 'territory' | RuledOut['verdict'];
  gate: string | null;
  param: string | null;
  /** The route of the conversation's last turn, which is tried first. */
  sticky?: true;
  /** Whose credential it would be called with; absent where the account has none of its own for the model. */
  credential?: CredentialName;
}

interface Explanation {
  object: 'route_explanation';
  requested_model: string;
  /** The name of the operator that it is; null where it is none. */
  name: string | null;
  /** Fields that the name adds to the request. */
  defaults: readonly string[];
  /** The ids that would be walked, in order: the requested one, then its fallback chain, each by its target. */
  resolved: string[];
  candidates: ExplainedCandidate[];
  would_serve: string | null;
  error: ReturnType<typeof envelopeOf> | null;
  /** Changes of the routing policy that would admit a route, where it leaves none. */
  counterfactuals: Counterfactual[];
}

type DryOutcome = { kind: 'served'; route: Route };

/** The caller and what it asks for. */
export interface ExplainRequest {
  readonly identity: Identity;
  readonly territory: Territory;
  readonly request: ChatRequest;
  /** A header of the request, which may name its conversation. */
  header?(name: string): string | undefined;
}

export async function explain(ports: ExplainPorts, asked: ExplainRequest): Promise<Explanation> {
  const { identity, request } = asked;
  const explanation: Explanation = {
    object: 'route_explanation',
    requested_model: request.model,
    name: request.name?.name ?? null,
    defaults: request.filled ?? [],
    resolved: [],
    candidates: [],
    would_serve: null,
    error: null,
    counterfactuals: [],
  };
  applyStrictness(request, { header: (name) => asked.header?.(name) });
  const snapshot = ports.catalogue.current;
  // A malformed field is a 400, as in a chat request.
  const preferences = snapshot && wishesOf(request, snapshot);
  // Credits are checked before routing, but the candidates are worth showing all the same.
  const unpaid =
    (mayUseOwn(identity) ? null : await ports.spend.spentBalance(identity.account)) ??
    (await spentLimitRefusal(ports, identity));
  try {
    const serving = await wouldServe(ports, { ...asked, preferences }, explanation);
    if (unpaid) throw unpaid;
    explanation.would_serve = serving.id;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    explanation.error = envelopeOf(unpaid ?? error);
  }
  return explanation;
}

async function spentLimitRefusal({ spend }: ExplainPorts, identity: Identity): Promise<GatewayError | null> {
  try {
    await spend.checkLimits(identity);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error;
  }
}

async function wouldServe(
  ports: ExplainPorts,
  { identity, territory, request, header, preferences }: ExplainRequest & { preferences: RequestPreferences | null },
  explanation: Explanation,
): Promise<Route> {
  const { account } = identity;
  const { policy } = account;
  const projectPolicy = identity.project.policy;
  const snapshot: Snapshot | null = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const primary = withOwn(ports, identity, resolveRequested(snapshot, account, request));
  checkKind({ kind: request.task?.kind ?? 'chat' }, primary);
  const outOfScope = modelRefusal(identity.key, primary);
  const ownChain = outOfScope ? [] : resolveOwnChain(ports, snapshot, { identity, request }, primary);
  const chain = (ownChain ?? resolveSavedChain(snapshot, account)).map((entry) => withOwn(ports, identity, entry));
  explanation.resolved = [primary, ...chain].map(targetOf);
  const promptTokens = estimatePromptTokens(request);
  const moment = { atMs: ports.clock.now(), promptTokens };
  // One trail for all entries, as in a real request: its receipt names what each of them skipped.
  const trail = newTrail();
  const outcome = await alongChain<DryOutcome>(primary, chain, async (plan) => {
    const unpaid = unpaidBy(ports, identity);
    const asker = { identity, policy, projectPolicy, territory, moment, preferences, unpaid };
    const { eligible, removed, excluded, error } = gate(ports, plan, asker);
    if (removed.length > 0 && eligible.length + excluded.length === 0) {
      // No change of the account's policy admits what the key or the project does not allow, or what the request does not want.
      const inScope = removed.filter(({ gate }) => gate !== keyScopeGate).map(({ route }) => route);
      const wanted = inScope.filter((route) => !preferences?.gates.some((each) => !each.permits(route, moment)));
      const allowed = projectPolicy === null ? wanted : permittedRoutes(projectPolicy, wanted, moment);
      explanation.counterfactuals.push(...counterfactuals(policy, allowed, moment));
    }
    explanation.candidates.push(...removed.map(({ route, gate }) => removedBy(plan, route, 'gated', gate)));
    explanation.candidates.push(...excluded.map((route) => removedBy(plan, route, 'territory', null)));
    if (error) return { kind: 'failed', error };
    const source = { identity, request, preferences, caller: { header: (name: string) => header?.(name) } };
    const remembered = await recallRoute(ports, source, plan);
    return dryWalk(ports, {
      ...{ request, plan, eligible, preferences, remembered, explanation, trail },
      ranking: {
        prefer: preferences?.prefer ?? projectPolicy?.prefer ?? policy.prefer,
        stream: request.stream,
        moment,
      },
    });
  });
  if (outOfScope) throw outOfScope;
  // A real request is refused by the key's token limit before gates and walk run.
  const overLimit = ports.keyLimiter.tokenRefusal(identity, promptTokens);
  if (overLimit) throw overLimit;
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.route;
}

interface DryWalk {
  readonly request: ChatRequest;
  readonly plan: Plan;
  readonly eligible: readonly Route[];
  readonly ranking: Ranking;
  readonly preferences: RequestPreferences | null;
  readonly remembered: RememberedRoute | null;
  readonly explanation: Explanation;
  readonly trail: Trail;
}

function dryWalk(
  ports: ExplainPorts,
  { request, plan, eligible, ranking, preferences, remembered, explanation: { candidates }, trail }: DryWalk,
): DryOutcome | { kind: 'failed'; error: GatewayError } {
  const ruledOut: RuledOut[] = [];
  let serving: Route | null = null;
  const scoreByRoute = new Map(scores(ports, eligible, ranking).map(({ route, score }) => [route, score]));
  const { health, own } = ports;
  const { atMs } = ranking.moment;
  const heads = plan.hasOwn ? headsOf(eligible) : eligible;
  const ordered = orderCandidates(
    [...scoreByRoute.keys()].filter((route) => heads.includes(route)),
    { request, atMs, preferences, remembered, health, own },
  );
  // Each route with its credentials, in the order of their use.
  const tried = plan.hasOwn ? ordered.flatMap(({ id }) => eligible.filter((each) => each.id === id)) : ordered;
  const group = plan.hasOwn && { group: eligible };
  let reached: Route | null = tried[0] ?? null;
  const explained = tried.map((route, i) => {
    const score = scoreByRoute.get(route)!;
    const obstacle =
      obstacleOf(ports, route, request, atMs) ?? pauseOf(ports, plan, route) ?? openBreaker(ports, plan, route);
    // A further credential of a route is used only where the one before may not be.
    const isReached = !plan.hasOwn || heads.includes(route) || reached === route;
    if (obstacle) {
      if (isReached) ruledOut.push({ route, ...obstacle });
      reached = group && isReached ? afterObstacle(group, route, obstacle.verdict) : null;
    } else {
      if (isReached) serving ??= route;
      reached = null;
    }
    if (obstacle?.verdict === 'breaker_open') addBreakerSkipped(trail, route);
    const { verdict, param } = obstacle ?? { verdict: 'eligible' as const, param: null };
    const isSticky = remembered?.first === route ? ({ sticky: true } as const) : {};
    const credential = plan.hasOwn && { credential: credentialOf(route) };
    return { id: route.id, entry: plan.id, rank: i + 1, score, verdict, gate: null, param, ...isSticky, ...credential };
  });
  // The walk's order first, then what a gate removed. An entry may come twice in a chain, so its id does not tell the place.
  candidates.splice(candidates.length - (plan.routes.length - eligible.length), 0, ...explained);
  if (serving) return { kind: 'served', route: serving };
  return { kind: 'failed', error: nothingTried(ports, plan, ruledOut, trail) };
}

const breakerOpen = { verdict: 'breaker_open', param: null } as const;

/** A pin is attempted even when its breaker is open. */
function openBreaker(ports: ExplainPorts, { kind }: Plan, route: Route): typeof breakerOpen | null {
  return kind === 'auto' && healthOf(ports, route).isOpen(healthKeyOf(route)) ? breakerOpen : null;
}

function removedBy(
  { id: entry, hasOwn }: Plan,
  route: Route,
  verdict: 'gated' | 'territory',
  gate: string | null,
): ExplainedCandidate {
  const credential = hasOwn && { credential: credentialOf(route) };
  return { id: route.id, entry, rank: null, score: null, verdict, gate, param: null, ...credential };
}

/** What an alias stands for; any other id stands for itself, a pin with its region. */
function targetOf({ id, kind, routes: [first] }: Plan): string {
  if (!first) return id;
  return kind === 'pin' ? first.id : `auto/${first.model.canonicalId}`;
}
