/** What a request may cost at most, as far as that can be said before its answer: this much of the balance is held while it is in flight. */
import type { PicoUsd } from '../base/money.js';
import { ratesFor } from '../catalogue/price.js';
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
export function estimateCost(routes: Iterable<Route>, asked: EstimatedRequest): PicoUsd {
  let dearest = 0n;
  for (const route of routes) {
    const cost = costOn(route, asked);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
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
