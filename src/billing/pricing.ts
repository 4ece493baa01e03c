/** Computes an answer's cost, tokens × the route's prices, exactly in pico-dollars, and finds pricing faults. */
import type { PicoUsd } from '../base/money.js';
import type { Price, Route, Snapshot } from '../catalogue/route.js';
import type { TokenUsage } from '../wire/usage.js';

/** Cached tokens without a price are billed at the input price. That is no fault. */
export function costOf(published: Price, usage: TokenUsage): PicoUsd {
  const { above } = published;
  const price = above && usage.promptTokens > above.inputTokens ? above : published;
  const fresh = BigInt(usage.promptTokens - usage.cachedTokens);
  const cached = BigInt(usage.cachedTokens);
  return (
    fresh * price.input + cached * (price.cachedInput ?? price.input) + BigInt(usage.completionTokens) * price.output
  );
}

/** Whether an answer at this price can cost anything. */
export function isFree(price: Price): boolean {
  const { input, output, cachedInput, above } = price;
  return input === 0n && output === 0n && (cachedInput ?? 0n) === 0n && (!above || isFree(above));
}

/** Reports a fault where the upstream names a model that the catalogue knows as another model. */
export function answeredModelFault(snapshot: Snapshot, route: Route, answered: unknown): string | undefined {
  if (typeof answered !== 'string' || answered === route.upstreamModel) return undefined;
  const known = snapshot.upstreamModels.get(`${route.provider.id} ${answered}`);
  if (!known || known.has(route.model.canonicalId)) return undefined;
  return `it answered with the model "${answered}", which is another one than "${route.upstreamModel}"`;
}
