/**
 * Stage 4: may the key ask for the model, may the model be served now, and which candidates do the key's scope, the policies of account
 * and project and the providers' terms leave? The gates of both affect `auto/` selection only; what the request itself asks of its routes holds for an
 * explicit id too.
 */
import { applyKeyScope, modelRefusal } from '../accounts/keys/token.js';
import type { ModelName } from '../catalogue/model-name.js';
import type { PriceMoment } from '../catalogue/price-moment.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import { shortIdOf } from '../catalogue/short-id.js';
import type { Identity } from '../domain/account.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import {
  applyGates,
  applyProjectGates,
  applyRequestGates,
  exhaustedAdvice,
  exhaustedParam,
  type Gated,
  keyScopeGate,
  type Removal,
  removalText,
} from '../policy/apply-gates.js';
import { bothPreferences, type RequestPreferences, readPreferences } from '../policy/request-preferences.js';
import type { ProjectPolicy, RoutingPolicy } from '../policy/routing-policy.js';
import { territoryFilter } from '../territory/territories.js';
import type { Territory } from '../territory/territory.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { GateOutcome, Plan, Unpaid } from './handover.js';
import type { PipelinePorts } from './ports.js';

type GatePorts = Pick<PipelinePorts, 'modelStates' | 'territories'>;

const nothing: readonly never[] = [];

/** Who asks, from where and when, and what the account and the request itself ask of their routes. */
interface Asker {
  readonly identity: Identity;
  /** The account's, as it was when the request was opened. */
  readonly policy: RoutingPolicy;
  /** The project's; null where it has none. */
  readonly projectPolicy: ProjectPolicy | null;
  readonly territory: Territory;
  readonly moment: PriceMoment;
  readonly preferences: RequestPreferences | null;
  /** null where the balance rules out nothing, or was looked at before. */
  readonly unpaid: Unpaid | null;
}

/** Gates of the account leave a pin alone. What the request itself asks for holds for a pin too. */
export function gate(ports: GatePorts, plan: Plan, asker: Asker): GateOutcome {
  const { territory } = asker;
  const { key } = asker.identity;
  const refusal = modelRefusal(key, plan);
  if (refusal) return { eligible: nothing, removed: refusedRoutes(plan), excluded: nothing, error: refusal };
  const stopped = stateError(ports, plan);
  if (stopped) return { eligible: nothing, removed: nothing, excluded: nothing, error: stopped };
  const permittedByAccount: Gated =
    plan.kind === 'pin' ? { eligible: plan.routes, removed: nothing } : gateCandidates(plan.routes, asker);
  const { eligible, removed } =
    asker.preferences === null ? permittedByAccount : applyWishes(plan, permittedByAccount, asker);
  const { permitted, excluded } = territoryFilter(eligible, territory);
  const error = permitted.length > 0 ? null : emptyError(ports, plan, { removed, excluded }, territory);
  if (error !== null || asker.unpaid === null) return { eligible: permitted, removed, excluded, error };
  const { refusal: unpaid, hasFee } = asker.unpaid;
  const paid = hasFee ? nothing : permitted.filter(({ credential }) => credential !== undefined);
  return { eligible: paid, removed, excluded, error: paid.length > 0 ? null : unpaid };
}

interface GatedChain {
  /** Of the request's own id. */
  readonly first: GateOutcome;
  /** Of the entries of its chain. */
  readonly others: readonly GateOutcome[];
  /** Why no route may serve it; null where one may. */
  readonly refusal: GatewayError | null;
}

/** A chain goes on only after a model that is unavailable for now, and passes over what it may not use. */
export function gateChain(ports: GatePorts, plan: Plan, chain: readonly Plan[], asker: Asker): GatedChain {
  const first = gate(ports, plan, asker);
  if (chain.length === 0) return { first, others: nothing, refusal: first.error };
  const others = chain.map((entry) => gate(ports, entry, asker));
  let refusal = first.error;
  if (refusal !== null && refusal.status >= 500) {
    for (const { error } of others) if (refusal && (!error || error.status >= 500)) refusal = error;
  }
  return { first, others, refusal };
}

/** An order of providers means nothing for a pin, and neither does a gate that comes from it. */
function applyWishes({ kind }: Plan, gated: Gated, { preferences, moment }: Asker): Gated {
  if (preferences === null || kind === 'auto') return applyRequestGates(gated, preferences, moment);
  const gates = preferences.gates.filter(({ name }) => name !== 'provider.allow_fallbacks');
  return applyRequestGates(gated, { ...preferences, gates }, moment);
}

function refusedRoutes({ routes }: Plan): Removal[] {
  return routes.map((route) => ({ route, gate: keyScopeGate }));
}

/** The policy gates only what the key leaves, so a 403 counts each route once. */
function gateCandidates(routes: readonly Route[], asker: Asker): Gated {
  const { policy, projectPolicy, moment } = asker;
  const scoped = applyKeyScope(asker.identity.key, routes);
  const byAccount = applyGates(policy, scoped.eligible, moment);
  const gated = projectPolicy === null ? byAccount : applyProjectGates(byAccount, projectPolicy, moment);
  return scoped.removed.length === 0 ? gated : { ...gated, removed: [...scoped.removed, ...gated.removed] };
}

/** The policy comes first: the terms are held only against what it leaves. */
function emptyError(
  { territories }: GatePorts,
  { id, kind }: Plan,
  { removed, excluded }: Pick<GateOutcome, 'removed' | 'excluded'>,
  territory: Territory,
): GatewayError | null {
  if (excluded.length > 0) return territories.modelExcluded({ id, kind, excluded, territory });
  if (removed.length === 0) return null;
  return gatewayError('routing_policy_exhausted', {
    ...{ id, gates: removalText(removed), param: exhaustedParam(removed), advice: exhaustedAdvice(removed) },
  });
}

function stateError({ modelStates }: GatePorts, { id, routes }: Plan): GatewayError | null {
  const model = routes[0]?.model;
  if (!model) return null;
  const { state, reason } = modelStates.get(model.canonicalId);
  if (state === 'available') return null;
  if (state === 'disabled') return gatewayError('model_not_found', { id });
  return gatewayError('model_unavailable', { id, reason: reason ?? 'the operator has marked it unavailable' });
}

const noWishes: RequestPreferences = { sent: null, gates: [], order: [], single: false, prefer: null, sticky: true };
const ofNames = new WeakMap<ModelName, RequestPreferences | null>();

/** What a request asks of its routes: by its own `provider` object, and by the name of the operator that it asks for. */
export function wishesOf(
  { model, provider, name }: Pick<ChatRequest, 'model' | 'provider' | 'name'>,
  snapshot: Snapshot,
): RequestPreferences | null {
  const own = provider === undefined ? null : readPreferences(provider, snapshot);
  if (snapshot.openRouter && name === undefined) {
    const sort = shortIdOf(snapshot, model)?.sort ?? null;
    return sort === null ? own : bothPreferences({ ...noWishes, prefer: sort }, own);
  }
  return name === undefined || name.provider === null ? own : bothPreferences(wishesOfName(name), own);
}

/** A provider that has left the catalogue since makes no request of the name a faulty one. */
function wishesOfName(name: ModelName): RequestPreferences | null {
  let wishes = ofNames.get(name);
  if (wishes === undefined) {
    wishes = readPreferences(name.provider, null);
    ofNames.set(name, wishes);
  }
  return wishes;
}
