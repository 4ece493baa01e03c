/** Small catalogues for tests: one model, one route a provider, each provider at a scripted upstream. */
import type { YamlObject } from './gateway-files.js';

export interface CatalogueOptions {
  creator?: string;
  model?: string;
  /** Merged over every route. */
  route?: YamlObject;
  /** Merged over the route of one provider. */
  routes?: Record<string, YamlObject>;
  /** Merged over one provider. */
  providers?: Record<string, YamlObject>;
  /** More models, as the file has them. */
  models?: readonly YamlObject[];
}

const regions = [
  { locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 },
  { locode: 'frpar', city: 'Paris', country: 'FR', lat: 48.9, lon: 2.4, carbon: 56 },
  { locode: 'usnyc', city: 'New York', country: 'US', lat: 40.7, lon: -74, carbon: 288 },
];

/** `providers` maps a provider id to the address of its upstream (`upstream.url`, without a path); all speak OpenAI's dialect. */
export function catalogueOf(providers: Record<string, string>, options: CatalogueOptions = {}): YamlObject {
  const { creator = 'meta', model = 'llama-3.3-70b' } = options;
  return {
    providers: Object.entries(providers).map(([id, url]) => ({
      id,
      name: id,
      dialect: 'openai',
      base_url: `${url}/v1`,
      auth: 'none',
      headquarters: 'DE',
      cloud_act: false,
      ...options.providers?.[id],
    })),
    regions,
    models: [
      {
        creator,
        model,
        context_window: 131_072,
        max_output_tokens: 8_192,
        routes: Object.keys(providers).map((id) => ({
          provider: id,
          locode: 'defra',
          upstream_model: 'upstream-model',
          price: { input: 0.6, output: 0.8, cached_input: 0.3 },
          capabilities: ['tools', 'vision', 'response_format', 'logprobs', 'logit_bias', 'n'],
          ...options.route,
          ...options.routes?.[id],
        })),
      },
      ...(options.models ?? []),
    ],
  };
}
