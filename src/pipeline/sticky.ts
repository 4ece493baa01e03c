/**
 * Staying with a route: the next turn of a conversation tries the route that served the last one first, because that provider has its
 * prompt in a cache. It changes only the order of candidates that may be tried anyway.
 */
import { hash } from 'node:crypto';
import { andThen, type MaybePromise } from '../base/turn.js';
import type { Route } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import type { RequestPreferences } from '../policy/request-preferences.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { openingOf } from '../wire/opening.js';
import type { Delivered, Exchange, Plan, RememberedRoute } from './handover.js';
import type { PipelinePorts } from './ports.js';

type StickyPorts = Pick<PipelinePorts, 'conversations' | 'meters'>;

/** What names the conversation of a request. */
interface ConversationSource {
  readonly identity: Identity;
  readonly request: ChatRequest;
  readonly preferences: RequestPreferences | null;
  readonly caller: { header(name: string): string | undefined };
}

const nameMax = 256;
/** Of a conversation without a name, while its account has none that is remembered. */
const nothingKnown: RememberedRoute = Object.freeze({ name: null, isNamed: false, routeId: null, first: null });

/** Looks up what is remembered; null where the request has no conversation, or the plan leaves nothing to choose. */
export function recallRoute(
  { conversations }: Pick<PipelinePorts, 'conversations'>,
  source: ConversationSource,
  plan: Plan,
): MaybePromise<RememberedRoute | null> {
  const { preferences } = source;
  if (plan.kind !== 'auto' || conversations === null || preferences?.sticky === false) return null;
  const named = nameOf(source);
  // Only a route with a cheaper cache is stayed with unless the conversation has a name, and most lists have none.
  if (named === null && !someCheaperCache(plan.routes)) return null;
  // The hash of a long prompt costs more than the rest of the ranking.
  if (named === null && !conversations.mayKnow(source.identity.account.id)) return nothingKnown;
  const text = named ?? unnamed(source.request);
  if (text === null) return null;
  const name = hashOf(source.identity, plan, text);
  return andThen(conversations.recall(name), (routeId) => ({ name, isNamed: named !== null, routeId, first: null }));
}

function hashOf({ account }: Identity, plan: Plan, text: string): string {
  const model = plan.routes[0]?.model.canonicalId ?? plan.id;
  return hash('sha256', `${account.id}\n${model}\n${text}`, 'base64url');
}

function nameOfOpening(identity: Identity, plan: Plan, request: ChatRequest): string | null {
  const text = unnamed(request);
  return text === null ? null : hashOf(identity, plan, text);
}

/** Which of the four it was is part of the name. */
function nameOf({ request: { sessionId, cacheKey }, caller }: ConversationSource): string | null {
  if (sessionId !== undefined) return `body ${sessionId}`;
  const session = usable(caller.header('x-session-id'));
  if (session !== undefined) return `header ${session}`;
  if (cacheKey !== undefined) return `cache ${cacheKey}`;
  const claude = usable(caller.header('x-claude-code-session-id'));
  return claude === undefined ? null : `claude ${claude}`;
}

function usable(value: string | undefined): string | undefined {
  return value !== undefined && value !== '' && value.length <= nameMax ? value : undefined;
}

function unnamed(request: ChatRequest): string | null {
  const opening = openingOf(request);
  return opening === null ? null : `opening ${opening}`;
}

/** Moves the remembered route to the front, where it is a candidate. An order that the request asks for wins. */
export function rememberedFirst(
  ranked: readonly Route[],
  remembered: RememberedRoute | null,
  preferences: RequestPreferences | null,
): readonly Route[] {
  if (remembered === null || remembered.routeId === null || (preferences !== null && preferences.order.length > 0))
    return ranked;
  const route = ranked.find(({ id }) => id === remembered.routeId);
  if (!route || (!remembered.isNamed && !hasCheaperCache(route))) return ranked;
  remembered.first = route;
  return ranked[0] === route ? ranked : [route, ...ranked.filter((other) => other !== route)];
}

/** Without a name it is not certain that turns belong together, so the route must make it worth it. */
function hasCheaperCache({ price }: Route): boolean {
  return price !== null && price.cachedInput !== null && price.cachedInput < price.input;
}

const cheaperCacheByList = new WeakMap<readonly Route[], boolean>();

function someCheaperCache(routes: readonly Route[]): boolean {
  let found = cheaperCacheByList.get(routes);
  if (found === undefined) {
    found = routes.some(hasCheaperCache);
    cheaperCacheByList.set(routes, found);
  }
  return found;
}

/** Forgets a route that has failed in the walk that is over. */
export function forgetFailed({ conversations }: StickyPorts, { trail }: Exchange): void {
  const { remembered } = trail;
  if (remembered === null || remembered.name === null || remembered.routeId === null) return;
  const timed = trail.timedAttempts.findLast(({ route }) => route.id === remembered.routeId);
  if (timed && !endings.has(timed.record.outcome)) conversations?.forget(remembered.name);
}

/** Ends of an attempt that say nothing against its route. */
const endings: ReadonlySet<string> = new Set(['served', 'rejected', 'client_closed', '']);

/** Remembers what served, before the client can send its next turn. */
export function rememberRoute({ conversations, meters }: StickyPorts, exchange: Exchange, delivered: Delivered): void {
  const { identity, request, trail } = exchange;
  const { remembered, plan } = trail;
  const { route, billed, streamEnd } = delivered;
  if (remembered === null || plan === null || conversations === null || route === null) return;
  const cached = billed?.usage.cachedTokens ?? 0;
  if (remembered.isNamed || remembered.routeId !== null)
    meters.countSticky(route.id, remembered.first === route, cached);
  const isWhole = streamEnd === null || streamEnd === 'complete' || streamEnd === 'client_closed';
  const isWorthIt = remembered.isNamed || cached > 0 || (billed?.usage.cacheWriteTokens ?? 0) > 0;
  if (isWhole && isWorthIt) {
    const name = remembered.name ?? nameOfOpening(identity, plan, request);
    if (name !== null) conversations.remember(name, route.id, identity.account.id);
  } else if (remembered.name !== null && remembered.routeId !== null) conversations.forget(remembered.name);
}
