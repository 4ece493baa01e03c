/** What a request may cost at most, as far as that can be said before its answer: this much of the balance is held while it is in flight. */
import type { PicoUsd } from '../base/money.js';
import { ratesFor } from '../catalogue/price.js';
import { varies } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import type { ChatRequest } from '../wire/chat-request.js';

/** For a model without a published limit, or a higher one, where the request names no bound itself. */
const outputTokensMax = 16_384;

export interface EstimatedRequest {
  readonly request: Pick<ChatRequest, 'outputMax' | 'choices' | 'extras' | 'task'>;
  readonly promptTokens: number;
  readonly atMs: number;
}

/** By the dearest of the routes that may serve it. */
export function estimateCost(routes: readonly Route[], asked: EstimatedRequest): PicoUsd {
  let dearest = 0n;
  for (const route of asked.request.extras === undefined ? dearestOf(routes) : routes) {
    const cost = costOn(route, asked);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}

/** Lists are made once for a policy and a catalogue, except those that a request's own gates leave. */
const dearestByList = new WeakMap<readonly Route[], readonly Route[]>();

/** Without the routes that are never dearer than another one of the list. */
function dearestOf(routes: readonly Route[]): readonly Route[] {
  if (routes.length < 2) return routes;
  let dearest = dearestByList.get(routes);
  if (!dearest) {
    const kept: Route[] = [];
    for (const route of routes) if (!kept.some((other) => isDearer(other, route))) kept.push(route);
    dearest = kept;
    dearestByList.set(routes, dearest);
  }
  return dearest;
}

/** Whether a route costs at least as much as another for every request. Prices that vary are not compared. */
function isDearer(route: Route, other: Route): boolean {
  const [price, lower] = [route.price, other.price];
  if (!price || !lower || varies(price) || varies(lower)) return false;
  const isLonger =
    route.maxOutputTokens === null ||
    (other.maxOutputTokens !== null && route.maxOutputTokens >= other.maxOutputTokens);
  return (
    isLonger &&
    price.input >= lower.input &&
    price.output >= lower.output &&
    (price.request ?? 0n) >= (lower.request ?? 0n)
  );
}

function costOn({ price, maxOutputTokens }: Route, { request, promptTokens, atMs }: EstimatedRequest): PicoUsd {
  if (!price) return 0n;
  const { input, output, request: perRequest = 0n } = ratesFor(price, atMs, request.extras?.tier ?? null, promptTokens);
  // Embeddings and rerank have no output.
  const outputTokens = request.task === undefined ? outputBound(request.outputMax, maxOutputTokens) : 0;
  const once = BigInt(promptTokens) * input + BigInt(outputTokens) * output + perRequest;
  return request.choices === undefined ? once : once * BigInt(request.choices);
}

function outputBound(asked: number | undefined, modelMax: number | null): number {
  if (asked === undefined) return Math.min(modelMax ?? outputTokensMax, outputTokensMax);
  return modelMax === null ? asked : Math.min(asked, modelMax);
}
