/** The prices of a LiteLLM configuration, which are for one token there. */
import type { KnownRoute } from './catalogue-book.js';
import { type Fields, fieldsOf, perMillion } from './values.js';

export const priceFields: Record<string, string> = {
  ...{ input_cost_per_token: 'input', output_cost_per_token: 'output' },
  ...{ cache_read_input_token_cost: 'cached_input', cache_creation_input_token_cost: 'cache_write' },
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
};

/** Prices of the source. One that is missing is the listed one; without that there is no price. */
export function ownPrice(params: Fields, info: Fields, route: KnownRoute | undefined): Fields | null {
  const price: Fields = {};
  for (const [field, name] of Object.entries(priceFields)) {
    const figure = perMillion(params[field] ?? info[field]);
    if (figure !== null) price[name] = figure;
  }
  if (Object.keys(price).length === 0) return null;
  const { input, output, currency } = fieldsOf(route?.raw.price);
  const isRetrieval = info.mode === 'embedding' || info.mode === 'rerank';
  const whole = { ...(currency === undefined && { input, output }), ...(isRetrieval && { output: '0' }), ...price };
  return whole.input !== undefined && whole.output !== undefined ? whole : null;
}
