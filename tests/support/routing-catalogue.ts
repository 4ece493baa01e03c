/** The providers of the routing tests, what they may do with a request, and their catalogue. */
import type { Json } from './client.js';
import type { YamlObject } from './gateway-files.js';
import { completion, hang, json, type Script, sse, streamOf } from './scripted-upstream.js';

/** In the order of their rank: each is a sixth of the price term worse than the one before, which no latency outweighs. */
export const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'] as const;
export type Name = (typeof names)[number] | 'keyless' | 'dead';

const inputPrices = {
  alpha: 0.4,
  beta: 0.48,
  gamma: 0.6,
  delta: 0.8,
  epsilon: 1.2,
  zeta: 2.4,
  keyless: 0.5,
  dead: 0.2,
};
export const locodes: Record<Name, string> = {
  ...{ alpha: 'defra', beta: 'frpar', gamma: 'usnyc', delta: 'defra', epsilon: 'frpar', zeta: 'usnyc' },
  ...{ keyless: 'defra', dead: 'defra' },
};
const regions = [
  { locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 },
  { locode: 'frpar', city: 'Paris', country: 'FR', lat: 48.9, lon: 2.4, carbon: 56 },
  { locode: 'usnyc', city: 'New York', country: 'US', lat: 40.7, lon: -74, carbon: 288 },
];
export const underTheAct = new Set<Name>(['gamma', 'delta']);
/** Callers from here are excluded by the terms of some. */
export const excludedCountry = 'CH';
const excluding = new Set<Name>(['alpha', 'delta']);
export const everything = ['tools', 'vision', 'response_format', 'logprobs', 'logit_bias', 'n'];

/** An error body as most upstreams write it. */
export const failing = (status: number, message: string, headers: Record<string, string> = {}): Script =>
  json({ error: { message } }, { status, headers });
export const broken = failing(500, 'out of order');
export const limited = failing(429, 'rate limit: slow down');
export const rejecting = json(
  { error: { message: 'Unsupported parameter: foo', type: 'invalid_request_error', param: 'foo' } },
  { status: 400 },
);
export const spent = json(
  { error: { message: 'tokens per day (TPD) limit reached', code: 'rate_limit_exceeded' } },
  { status: 429 },
);
export const silent = hang();
/** A whole answer or a stream, as the request asks: 9 prompt and 3 completion tokens. */
export const serving: Script = (exchange) =>
  (exchange.call.json as Json).stream === true
    ? sse(streamOf(['one', ' two', ' three']))(exchange)
    : json(completion())(exchange);

/** Pico-dollars of one answer of `serving`, at the usual price of the provider. */
export const costOf = (name: Name): bigint => BigInt(Math.round(inputPrices[name] * 1e6)) * BigInt(9 + 2 * 3);

/** Providers, each with what differs from its usual route; a provider may have several. */
export type Routes = readonly (Name | readonly [Name, YamlObject])[] | Partial<Record<Name, YamlObject>>;

/** Shares no object with another model: YAML would write it as an alias. */
export function modelOf(model: string, routes: Routes): YamlObject {
  const entries = Array.isArray(routes) ? routes.map((route) => [route, {}].flat()) : Object.entries(routes);
  return {
    ...{ creator: 'meta', model, context_window: 131_072, max_output_tokens: 8_192 },
    routes: (entries as [Name, YamlObject][]).map(([provider, more]) => ({
      ...{ provider, locode: locodes[provider], upstream_model: 'upstream-model', capabilities: [...everything] },
      price: { input: inputPrices[provider], output: 2 * inputPrices[provider] },
      ...structuredClone(more),
    })),
  };
}

/** The whole catalogue; the providers are told apart by their path, and nobody listens at `deadPort`. */
export function routingCatalogue(url: string, models: readonly YamlObject[], deadPort = 1): YamlObject {
  return {
    providers: (Object.keys(locodes) as Name[]).map((id) => ({
      ...{ id, name: `${id} cloud`, dialect: 'openai', headquarters: 'DE', cloud_act: underTheAct.has(id) },
      base_url: id === 'dead' ? `http://127.0.0.1:${deadPort}/v1` : `${url}/${id}/v1`,
      excluded_territories: excluding.has(id) ? [excludedCountry] : [],
      ...(id === 'keyless' ? { api_key_env: 'NO_SUCH_KEY' } : { auth: 'none' }),
    })),
    regions,
    models: models.length > 0 ? models : [modelOf('m0', ['alpha'])],
  };
}
