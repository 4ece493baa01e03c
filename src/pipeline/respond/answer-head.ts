/** What every answer says about itself: the headers of a 200, and `router_metadata`. */
import type { Route } from '../../catalogue/route.js';
import type { StreamEnd } from '../../domain/generation.js';
import { omittedOn } from '../../providers/native-pass.js';
import { routerMetadataText } from '../../wire/router-metadata.js';
import { type Exchange, fallbackOccurred, type PipelinePorts } from '../handover.js';

/** The headers of a 200, as a flat list. */
export function answerHeaders(
  { keyLimiter }: Pick<PipelinePorts, 'keyLimiter'>,
  exchange: Exchange,
  route: Route,
): string[] {
  const headers = keyLimiter.headersOf(exchange.identity);
  headers.push(
    'x-request-id',
    exchange.requestId,
    'x-generation-id',
    exchange.generationId,
    'x-router-provider',
    route.provider.id,
    'x-router-locode',
    route.locode,
    'x-router-overhead-ms',
    exchange.trail.overheadMs.toFixed(3),
  );
  return headers;
}

/** `router_metadata` as JSON text. `leaf` is the hash of the receipt's leaf, where that is known already. */
export function metadataOf(
  { proof }: Pick<PipelinePorts, 'proof'>,
  { request, plan, trail, preferences, generationId }: Exchange,
  route: Route,
  { streamEnd, leaf = null }: { streamEnd?: StreamEnd; leaf?: string | null } = {},
): string {
  const { providersAttempted, breakerSkipped } = trail;
  // The alias of the requested id; where that is none, the one of the chain's entry that serves.
  const alias = plan.alias ?? trail.plan?.alias ?? null;
  const hasOwnId = request.native !== undefined || request.task !== undefined;
  return routerMetadataText(
    {
      requestedModel: request.model,
      alias,
      route,
      providersAttempted,
      fallbackOccurred: fallbackOccurred(trail),
      breakerSkipped,
      requestPolicy: preferences !== null,
      generationId: hasOwnId ? generationId : undefined,
      omitted: omittedOn(route, request),
      sticky: trail.stay?.first === route,
      // The hash of an answer cannot be inside it, so the receipt is then named by the id that its proof is asked for with.
      receipt: proof === null ? undefined : (leaf ?? generationId),
    },
    streamEnd,
  );
}
