/** The order in which the ranked routes of an `auto/` id are tried. A real request and its dry run share it. */
import type { Route } from '../../catalogue/route.js';
import { healthKeyOf, healthOf } from '../../health/route-health.js';
import { applyOrder, type RequestPreferences } from '../../policy/request-preferences.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { RememberedRoute } from '../handover.js';
import type { PipelinePorts } from '../ports.js';
import { rememberedFirst } from '../sticky.js';
import { wholeFirst } from './obstacles.js';

interface Ordering {
  readonly request: ChatRequest;
  /** The time of the request. */
  readonly atMs: number;
  readonly preferences: RequestPreferences | null;
  readonly remembered: RememberedRoute | null;
  readonly health: Pick<PipelinePorts['health'], 'observed'>;
  readonly own?: PipelinePorts['own'];
}

/** The route of the conversation first, else those that the request names, then by rank. */
export function orderCandidates(ranked: readonly Route[], ordering: Ordering): readonly Route[] {
  const { request, atMs, preferences, remembered } = ordering;
  const ordered = preferences === null ? ranked : applyOrder(preferredFirst(ranked, ordering), preferences.order);
  const tried = wholeFirst(rememberedFirst(ordered, remembered, preferences), request, atMs);
  // A route that leaves a part of the request out is not stayed with while another one does not.
  if (remembered !== null && remembered.first !== null && tried[0] !== remembered.first) remembered.first = null;
  return tried;
}

/** Routes that this process has measured as worse than the request prefers go behind the others. */
function preferredFirst(ranked: readonly Route[], { request, preferences, ...ports }: Ordering): readonly Route[] {
  const { latencyMsMax, tokensPerSecondMin } = preferences?.preferred ?? {};
  if (latencyMsMax === undefined && tokensPerSecondMin === undefined) return ranked;
  const isWorse = (route: Route): boolean => {
    const health = healthOf(ports, route);
    const { firstByteMs } = health.observed(healthKeyOf(route), request.stream);
    const { tokensPerSecond } = health.observed(healthKeyOf(route), true);
    if (latencyMsMax !== undefined && firstByteMs !== null && firstByteMs > latencyMsMax) return true;
    return tokensPerSecondMin !== undefined && tokensPerSecond !== undefined && tokensPerSecond < tokensPerSecondMin;
  };
  return [...ranked.filter((route) => !isWorse(route)), ...ranked.filter(isWorse)];
}
