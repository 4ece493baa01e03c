/** What an entry of the model list says about prices. */
import { usdText } from '../../base/money.js';
import { type ClassPrices, priceAt, ratesFor } from '../../catalogue/price.js';
import type { Route } from '../../catalogue/route.js';

/** The value that all routes have in common; null where they differ, because the walk decides which one serves. */
export function commonValue<T>(routes: readonly Route[], read: (route: Route) => T | null): T | null {
  const [first, ...rest] = routes.map(read);
  return first !== undefined && rest.every((value) => value === first) ? first : null;
}

/** USD a token, for `request` and `web_search` a use, as decimal text; null where unpublished, or where routes differ. */
export type Pricing = Record<keyof typeof pricedClasses | 'web_search', string | null>;

/** The classes under OpenRouter's names. */
const pricedClasses = {
  prompt: 'input',
  completion: 'output',
  input_cache_read: 'cachedInput',
  input_cache_write: 'cacheWrite',
  input_cache_write_1h: 'cacheWrite1h',
  request: 'request',
  image: 'inputImage',
  audio: 'inputAudio',
  internal_reasoning: 'reasoning',
} as const satisfies Record<string, keyof ClassPrices>;

/** The prices of a short prompt now, at the ordinary tier. */
export function pricingOf(routes: readonly Route[], atMs: number): Pricing {
  const priceText = (read: (route: Route) => bigint | null | undefined) => {
    const pico = commonValue(routes, (route) => read(route) ?? null);
    return pico === null ? null : usdText(pico);
  };
  const pricing: Record<string, string | null> = {};
  for (const [name, key] of Object.entries(pricedClasses)) {
    pricing[name] = priceText(({ price }) => price && ratesFor(price, atMs, null, 0)[key]);
  }
  pricing.web_search = priceText(({ price }) => price && priceAt(price, atMs).tools?.get('web_search'));
  return pricing as Pricing;
}
