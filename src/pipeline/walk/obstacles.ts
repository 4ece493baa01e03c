/** Why a route cannot be tried, and the answer when that leaves no candidate. */
import { quoted } from '../../base/quoted.js';
import { secondsToMidnightUtc } from '../../base/time.js';
import { priceAt } from '../../catalogue/price.js';
import type { Capability, Route } from '../../catalogue/route.js';
import { type GatewayError, gatewayError, type Receipt } from '../../errors/gateway-error.js';
import type { Paused } from '../../health/own-health.js';
import { usesKeys } from '../../providers/credentials/key-pool.js';
import { dialectOf } from '../../providers/dialects/registry.js';
import {
  hasNoTurnOn,
  inexpressibleOn,
  isNativePass,
  leftOutOf,
  omittedOn,
  unpricedTools,
} from '../../providers/native-pass.js';
import {
  type ChatRequest,
  type PricedExtras,
  type RefusableParameter,
  refusableParameters,
  type StoredObject,
} from '../../wire/chat-request.js';
import type { Plan, Trail } from '../handover.js';
import type { PipelinePorts } from '../ports.js';
import { taskObstacle } from './task-obstacle.js';

interface Obstacle {
  readonly verdict: 'quota_held' | 'unconfigured' | 'unpriced' | 'cannot_apply';
  readonly param: string | null;
  /** What the route cannot do, where the parameter alone does not say it. */
  readonly reason?: string;
  /** What to do, where the parameter cannot be left out. */
  readonly remedy?: string;
  /** Tells the client of an API how to go on. */
  readonly details?: object;
}

/** A candidate that was ruled out without being tried. */
export interface RuledOut {
  readonly route: Route;
  readonly verdict: Obstacle['verdict'] | 'breaker_open' | Paused;
  readonly param: string | null;
  readonly reason?: string;
  readonly remedy?: string;
  readonly details?: object;
}

const held: Obstacle = { verdict: 'quota_held', param: null };
const unconfigured: Obstacle = { verdict: 'unconfigured', param: null };
const unpriced: Obstacle = { verdict: 'unpriced', param: null };
/** There is no translation of a chat into a request of the Responses API. */
const responsesOnly: Obstacle = {
  verdict: 'cannot_apply',
  param: 'model',
  reason: 'takes requests of the Responses API alone',
  remedy: 'Send the request to /v1/responses, or choose another model or route.',
};
const cannotApply = Object.fromEntries(
  refusableParameters.map((param) => [param, { verdict: 'cannot_apply', param }]),
) as unknown as Record<RefusableParameter, Obstacle>;

type Asked = Pick<
  ChatRequest,
  'needs' | 'responseFormat' | 'extras' | 'native' | 'task' | 'partial' | 'strict' | 'members' | 'encoding'
>;

/** A hold comes first, so that a pin of a held route always gets the quota error. `atMs` is the time of the request, which chooses the price. */
export function obstacleOf(
  { holds, providerKeys }: Pick<PipelinePorts, 'holds' | 'providerKeys'>,
  route: Route,
  request: Asked,
  atMs: number,
): Obstacle | null {
  if (route.credential === undefined && holds.isHeld(route.id)) return held;
  if (!route.provider.configured) return unconfigured;
  if (usesKeys(route) && providerKeys.obstacleOf(route.provider) === 'refused') return unconfigured;
  if (!route.price) return unpriced;
  const { native, extras } = request;
  if (native === undefined) {
    if (request.task !== undefined) return taskObstacle(route, request.task);
    if (route.responsesOnly) return responsesOnly;
    return chatObstacle(route, request, atMs) ?? strictObstacle(route, request, atMs);
  }
  if (isNativePass(route.provider, request)) {
    const obstacle =
      extras === undefined ? null : extrasObstacle(route, keptExtras(route, request, extras, atMs), atMs);
    return named(obstacle, native.names) ?? strictObstacle(route, request, atMs);
  }
  if (route.responsesOnly) return responsesOnly;
  const found = inexpressibleOn(route, request, atMs);
  if (found) return { verdict: 'cannot_apply', ...found };
  // Tools that run at a provider are left out of the translation, so they need no price.
  const priced = extras && { ...extras, tools: [] };
  return named(chatObstacle(route, request, atMs, priced), native.names);
}

/** By the client's name of the parameter. */
function named(obstacle: Obstacle | null, names: Readonly<Record<string, string>>): Obstacle | null {
  return obstacle?.param ? { ...obstacle, param: names[obstacle.param] ?? obstacle.param } : obstacle;
}

/** Without the tools that a native pass leaves out. */
function keptExtras(route: Route, request: Asked, extras: PricedExtras, atMs: number): PricedExtras {
  const left = request.strict ? [] : unpricedTools(route, request, atMs);
  return left.length === 0 ? extras : { ...extras, tools: extras.tools.filter((name) => !left.includes(name)) };
}

function strictObstacle(route: Route, request: Asked, atMs: number): Obstacle | null {
  const found = leftOutOf(route, request, atMs);
  return found === undefined ? null : { verdict: 'cannot_apply', ...found };
}

const noTurn: Obstacle = {
  verdict: 'cannot_apply',
  param: 'messages',
  reason: 'takes no conversation in which no message has content',
};

/** What a route cannot do of a request in the chat format. */
function chatObstacle(route: Route, request: Asked, atMs: number, extras = request.extras): Obstacle | null {
  if (hasNoTurnOn(route, request)) return noTurn;
  for (const param of request.needs) {
    if (!applies(route, param, request.responseFormat)) return cannotApply[param];
  }
  if (request.needs.length > 0) {
    const param = dialectOf(route.provider.dialect).inapplicableParameter(request);
    if (param) return cannotApply[param];
  }
  return extras === undefined ? null : extrasObstacle(route, extras, atMs);
}

/** On `auto/`, routes that need to leave nothing of the request out come first, in their order. */
export function wholeFirst(ranked: readonly Route[], request: ChatRequest, atMs: number): readonly Route[] {
  if (request.native === undefined && request.task === undefined && !request.partial) return ranked;
  // What says nothing is left out on every route.
  const everywhere = request.native?.unset?.length ?? 0;
  const leavesOut = (route: Route): boolean => omittedOn(route, request, atMs).length > everywhere;
  if (!ranked.some(leavesOut)) return ranked;
  return [...ranked.filter((each) => !leavesOut(each)), ...ranked.filter(leavesOut)];
}

function extrasObstacle(route: Route, extras: PricedExtras, atMs: number): Obstacle | null {
  const { stored } = extras;
  return stored === undefined || route.provider.storedObjects
    ? withoutPrice(route, extras, atMs)
    : storedObstacle(stored);
}

/** All accounts share the operator's account at a provider, so that one could name what is another's. */
function storedObstacle({ param, what, remedy, details }: StoredObject): Obstacle {
  return {
    verdict: 'cannot_apply',
    param,
    reason: `keeps ${what} for all accounts together, so that the request may not name one`,
    remedy: `${remedy}, or ask the operator to set \`stored_objects\` for the provider.`,
    ...(details && { details }),
  };
}

/** An answer that could not be billed is not asked for. */
function withoutPrice({ price }: Route, extras: PricedExtras, atMs: number): Obstacle | null {
  const { tiers, tools, inputAudio, outputAudio } = priceAt(price!, atMs);
  const missing = (param: string, what: string): Obstacle => ({
    verdict: 'cannot_apply',
    param,
    reason: `has no price for ${what}`,
  });
  const { tier, tierParam = 'service_tier' } = extras;
  if (tier !== null && !tiers?.has(tier)) return missing(tierParam, `the tier "${tier}"`);
  const tool = extras.tools.find((name) => !tools?.has(name));
  if (tool !== undefined) return missing('tools', `the tool "${tool}", which runs at the provider,`);
  if (extras.searchOptions && !tools?.has('web_search')) return missing('web_search_options', 'a web search');
  if (extras.audio && inputAudio === undefined) return missing('messages', 'audio in the prompt');
  return extras.spoken && outputAudio === undefined ? missing('modalities', 'audio in the answer') : null;
}

/** A route may know one form of `response_format` and not the other. */
function applies({ capabilities }: Route, param: RefusableParameter & Capability, form: string | null): boolean {
  if (capabilities.has(param)) return true;
  return param === 'response_format' && (form === 'json_object' || form === 'json_schema') && capabilities.has(form);
}

/** The answer when no candidate could be tried. */
export function nothingTried(
  ports: Pick<PipelinePorts, 'clock'>,
  plan: Plan,
  ruledOut: readonly RuledOut[],
  trail: Trail,
): GatewayError {
  const [first] = ruledOut;
  if (first && plan.kind === 'pin') return obstacleError(ports, first);
  const alike = first && ruledOut.every(({ verdict }) => verdict === first.verdict);
  if (alike && first.verdict === 'quota_held') {
    return gatewayError('model_unavailable', {
      id: plan.id,
      reason: 'the daily quota of every route is spent until midnight UTC',
    });
  }
  if (alike && (first.verdict === 'unconfigured' || first.verdict === 'cannot_apply'))
    return obstacleError(ports, first);
  const reason = first ? countsText(ruledOut) : 'the model has no routes';
  return gatewayError('no_candidate_left', { id: plan.id, reason }, { receipt: receiptOf(trail, 0, '') });
}

function obstacleError(
  { clock }: Pick<PipelinePorts, 'clock'>,
  { route, verdict, param, reason, remedy, details }: RuledOut,
): GatewayError {
  const provider = route.provider.id;
  switch (verdict) {
    case 'quota_held': {
      const retryAfterSeconds = secondsToMidnightUtc(clock.now());
      return gatewayError('provider_quota_exhausted', { provider, id: route.id }, { retryAfterSeconds });
    }
    case 'unconfigured':
      return gatewayError('provider_not_configured', { provider });
    case 'cannot_apply': {
      const what = param === 'n' ? '`n` above 1' : `\`${param}\``;
      const values = {
        provider,
        param: param ?? '',
        reason: `${reason ?? `cannot apply ${what}`} on ${route.id}`,
        remedy,
      };
      return gatewayError('cannot_apply', values, details ? { details } : {});
    }
    default:
      return gatewayError('route_unpriced', { id: route.id });
  }
}

const countedAs: Record<RuledOut['verdict'], string> = {
  breaker_open: 'skipped because recent failures opened its breaker',
  quota_held: 'held because its daily quota is spent',
  unconfigured: 'without credentials',
  unpriced: 'without a published price',
  cannot_apply: 'unable to apply a parameter of the request',
  credential_failing: 'whose own credential the provider has refused within the last minute',
  credential_held: 'whose own credential has used up its quota or rate limit for now',
};

/** With the names of own credentials, so that their owner knows which one to look at. */
function countsText(ruledOut: readonly RuledOut[]): string {
  const counts = new Map<RuledOut['verdict'], number>();
  for (const { verdict } of ruledOut) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts]
    .map(([verdict, count]) => `${count} ${countedAs[verdict]}${namesText(ruledOut, verdict)}`)
    .join(', ');
}

function namesText(ruledOut: readonly RuledOut[], verdict: RuledOut['verdict']): string {
  if (verdict !== 'credential_failing' && verdict !== 'credential_held') return '';
  const names = ruledOut.flatMap(({ route, verdict: each }) =>
    each === verdict ? (route.credential?.name ?? []) : [],
  );
  return ` (${[...new Set(names)].map((name) => `your credential ${quoted(name)}`).join(', ')})`;
}

/** The routing details of an auto-routed failure. */
export function receiptOf(trail: Trail, remaining: number, lastError: string): Receipt {
  return {
    providers_attempted: trail.providersAttempted,
    breaker_skipped: trail.breakerSkipped,
    candidates_remaining: remaining,
    last_error: lastError,
  };
}

/** One record keeps at most so many. */
const skippedMax = 64;

/** Notes a route that is not tried, for the record of the request, and for the error where its breaker is open. */
export function addSkipped(trail: Trail, { route, verdict, param }: RuledOut): void {
  if (verdict === 'breaker_open') addBreakerSkipped(trail, route);
  trail.skipped ??= [];
  if (trail.skipped.length < skippedMax) trail.skipped.push({ route: route.id, reason: verdict, param });
}

/** Notes a route as `<provider>/<locode>`, once, however many entries of a chain skip it. */
export function addBreakerSkipped(trail: Trail, { provider, locode }: Route): void {
  const name = `${provider.id}/${locode}`;
  if (!trail.breakerSkipped.includes(name)) trail.breakerSkipped = [...trail.breakerSkipped, name];
}
