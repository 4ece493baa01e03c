/** Writes `router_metadata` as JSON text. The parts that never change for a route are cached. */
import type { Route } from '../catalogue/route.js';

export interface RouterMetadata {
  requestedModel: string;
  alias: string | null;
  route: Route;
  providersAttempted: readonly string[];
  fallbackOccurred: boolean;
  breakerSkipped: readonly string[];
  /** The request had a `provider` object with at least one field. */
  requestPolicy?: boolean;
  /** The route that served the conversation before was tried first, and served again. */
  sticky?: boolean;
  /** Where the answer has an id of its own. */
  generationId?: string;
  /** What the route has no word for and was left out. */
  omitted?: readonly string[];
  /** The receipt in the log: the hash of its leaf, or the generation's id; absent where none is logged. */
  receipt?: string;
}

interface Fixed {
  served: string;
  place: string;
}

const fixedByRoute = new WeakMap<Route, Fixed>();

export function routerMetadataText(metadata: RouterMetadata, streamEnd?: string): string {
  const fixed = fixedOf(metadata.route);
  const end = streamEnd === undefined ? '' : `,"stream_end":"${streamEnd}"`;
  const { generationId, omitted, receipt } = metadata;
  const own = generationId === undefined ? '' : `,"generation_id":"${generationId}"`;
  const left = omitted?.length ? `,"omitted":${JSON.stringify(omitted)}` : '';
  const logged = receipt === undefined ? '' : `,"receipt":"${receipt}"`;
  return (
    `{"requested_model":${JSON.stringify(metadata.requestedModel)},${fixed.served}` +
    `,"providers_attempted":${listText(metadata.providersAttempted)}` +
    `,"fallback_occurred":${metadata.fallbackOccurred}` +
    `,"breaker_skipped":${listText(metadata.breakerSkipped)}` +
    `,"alias":${JSON.stringify(metadata.alias)},${fixed.place},"request_policy":${metadata.requestPolicy ?? false}` +
    `,"sticky":${metadata.sticky ?? false}${logged}${own}${left}${end}}`
  );
}

/** Ids of the catalogue need no escapes. */
function listText(names: readonly string[]): string {
  return names.length === 0 ? '[]' : `["${names.join('","')}"]`;
}

function fixedOf(route: Route): Fixed {
  const known = fixedByRoute.get(route);
  if (known) return known;
  const { provider, model, locode, country, carbon, id } = route;
  const served = {
    served_model: id,
    provider: provider.id,
    creator: model.creator,
    model: model.model,
    locode,
    country,
  };
  const place = { carbon, cloud_act: provider.cloudAct };
  const fixed = { served: JSON.stringify(served).slice(1, -1), place: JSON.stringify(place).slice(1, -1) };
  fixedByRoute.set(route, fixed);
  return fixed;
}
