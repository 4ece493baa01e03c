/** What every answer says about itself: the headers of a 200, and `router_metadata`. */

import { credentialOf } from '../../catalogue/credential-name.js';
import type { Retirement } from '../../catalogue/life.js';
import { retirementSoon } from '../../catalogue/retirement.js';
import type { Route } from '../../catalogue/route.js';
import type { StreamEnd } from '../../domain/generation.js';
import { omittedOn } from '../../providers/native-pass.js';
import type { Exchange, Trail } from '../handover.js';
import type { PipelinePorts } from '../ports.js';

/** The route that serves is not the first one attempted, or belongs to an entry of the fallback chain. */
export function fallbackOccurred({ attempts, chainIndex }: Trail): boolean {
  if (chainIndex > 0) return true;
  const [first] = attempts;
  const last = attempts.at(-1);
  return first?.provider !== last?.provider || first?.locode !== last?.locode;
}

/** The headers of a 200, as a flat list. */
export function answerHeaders(
  { keyLimiter }: Pick<PipelinePorts, 'keyLimiter'>,
  exchange: Exchange,
  route: Route,
): string[] {
  // A list that others are pushed to would grow to twice its length.
  return keyLimiter
    .headersOf(exchange.identity)
    .concat([
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
    ]);
}

/** `router_metadata` as JSON text. `leaf` is the hash of the receipt's leaf, where that is known already. */
export function metadataOf(
  { proof }: Pick<PipelinePorts, 'proof'>,
  { request, plan, trail, preferences, generationId, createdAt }: Exchange,
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
      name: plan.name,
      defaults: request.filled,
      route,
      providersAttempted,
      fallbackOccurred: fallbackOccurred(trail),
      breakerSkipped,
      requestPolicy: preferences !== null && preferences.sent !== null,
      generationId: hasOwnId ? generationId : undefined,
      omitted: omittedOn(route, request, createdAt),
      sticky: trail.remembered?.first === route,
      // The hash of an answer cannot be inside it, so the receipt is then named by the id that its proof is asked for with.
      receipt: proof === null ? undefined : (leaf ?? generationId),
      retires: route.life === undefined ? null : retirementSoon(route, createdAt),
    },
    streamEnd,
  );
}

export interface RouterMetadata {
  requestedModel: string;
  alias: string | null;
  /** The name of the operator that was asked for; absent where it was none. */
  name?: string | null;
  /** The fields that the name has added. */
  defaults?: readonly string[] | undefined;
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
  /** The retirement of the route, where it is less than 60 days away. */
  retires?: Retirement | null;
}

interface Fixed {
  readonly served: string;
  readonly location: string;
  /** The start of the text for this requested id. */
  plainModel: string | null;
  plainStart: string;
}

const fixedByRoute = new WeakMap<Route, Fixed>();

/** `router_metadata` as JSON text. The parts that never change for a route are kept. */
export function routerMetadataText(metadata: RouterMetadata, streamEnd?: string): string {
  const { generationId, omitted, receipt, retires } = metadata;
  const end = streamEnd === undefined ? '' : `,"stream_end":"${streamEnd}"`;
  const own = generationId === undefined ? '' : `,"generation_id":"${generationId}"`;
  const left = omitted?.length ? `,"omitted":${JSON.stringify(omitted)}` : '';
  const logged = receipt === undefined ? '' : `,"receipt":"${receipt}"`;
  const ends = retires ? `,"retires":${JSON.stringify(retirementJson(retires))}` : '';
  return `${startOf(metadata)}${ends}${logged}${own}${left}${end}}`;
}

/** Of requests that went to their route at once and ask for nothing else, those for one id have the same start, which is kept. */
function startOf(metadata: RouterMetadata): string {
  const { route, requestedModel, providersAttempted, breakerSkipped, alias, name } = metadata;
  const isPlain =
    providersAttempted.length === 1 &&
    !metadata.fallbackOccurred &&
    breakerSkipped.length === 0 &&
    alias === null &&
    name == null &&
    metadata.requestPolicy !== true &&
    metadata.sticky !== true;
  const fixed = fixedOf(route);
  if (!isPlain) return startText(metadata, fixed);
  if (fixed.plainModel !== requestedModel) {
    fixed.plainModel = requestedModel;
    fixed.plainStart = startText(metadata, fixed);
  }
  return fixed.plainStart;
}

function startText(metadata: RouterMetadata, { served, location }: Fixed): string {
  const { name } = metadata;
  const named =
    name == null ? noName : `,"name":${JSON.stringify(name)},"defaults":${JSON.stringify(metadata.defaults ?? [])}`;
  return (
    `{"requested_model":${JSON.stringify(metadata.requestedModel)},${served}` +
    `,"providers_attempted":${listText(metadata.providersAttempted)}` +
    `,"fallback_occurred":${metadata.fallbackOccurred}` +
    `,"breaker_skipped":${listText(metadata.breakerSkipped)}` +
    `,"alias":${JSON.stringify(metadata.alias)},${location},"request_policy":${metadata.requestPolicy ?? false}` +
    `,"sticky":${metadata.sticky ?? false}${named}`
  );
}

const noName = ',"name":null,"defaults":[]';

function retirementJson({ date, replacedBy }: Retirement) {
  return { date, replaced_by: replacedBy };
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
  const location = { carbon, cloud_act: provider.cloudAct, credential: credentialOf(route) };
  const fixed = {
    served: JSON.stringify(served).slice(1, -1),
    location: JSON.stringify(location).slice(1, -1),
    plainModel: null,
    plainStart: '',
  };
  fixedByRoute.set(route, fixed);
  return fixed;
}
