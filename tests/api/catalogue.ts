/** The catalogue of the black-box chat tests: one model for each outcome of a pinned request. */
import type { YamlObject } from '../support/gateway-files.js';

const everything = ['tools', 'vision', 'response_format', 'logprobs', 'logit_bias', 'n'];
const price = { input: 0.6, output: 0.8, cached_input: 0.3 };

interface RouteOptions {
  provider?: string;
  locode?: string;
  [field: string]: unknown;
}

/** One of acme's routes in Frankfurt, by default. */
export function route(options: RouteOptions = {}): YamlObject {
  return {
    provider: 'acme',
    locode: 'defra',
    upstream_model: 'upstream-model',
    price,
    capabilities: everything,
    ...options,
  };
}

export function model(name: string, routes: YamlObject[]): YamlObject {
  return { creator: 'meta', model: name, context_window: 131_072, max_output_tokens: 8_192, routes };
}

const provider = (id: string, url: string, more: YamlObject = { auth: 'none' }): YamlObject => ({
  id,
  name: `${id} cloud`,
  dialect: 'openai',
  base_url: `${url}/v1`,
  headquarters: 'DE',
  cloud_act: id === 'acme',
  ...more,
});

/**
 * acme is configured, keyless needs a credential that is not there, and keyed has one (`KEYED_API_KEY`). `llama` is served
 * in two regions, `everywhere` only without one, `unpriced` has no price, `plain` can apply none of the four parameters.
 */
export function chatCatalogue(url: string, more: YamlObject[] = []): YamlObject {
  return {
    providers: [
      provider('acme', url),
      provider('keyless', url, { api_key_env: 'KEYLESS_API_KEY' }),
      provider('keyed', url, { api_key_env: 'KEYED_API_KEY' }),
    ],
    regions: [
      { locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 },
      { locode: 'frpar', city: 'Paris', country: 'FR', lat: 48.9, lon: 2.4, carbon: 56 },
    ],
    models: [
      model('llama', [
        route({ locode: 'frpar', upstream_model: 'upstream-paris' }),
        route({ default: true }),
        route({ provider: 'keyless' }),
        route({ provider: 'keyed' }),
      ]),
      model('everywhere', [route({ locode: 'global' })]),
      model('unpriced', [route({ price: undefined })]),
      model('plain', [route({ capabilities: [] })]),
      model('free', [route({ price: { input: 0, output: 0 } })]),
      model('other', [route({ upstream_model: 'upstream-other' })]),
      ...more,
    ],
  };
}
