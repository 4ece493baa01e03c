/** One gateway before two scripted upstreams: one that speaks every API itself, and one that speaks chat completions only. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';

export interface DoorBench {
  gateway: TestGateway;
  /** Speaks Anthropic's API and the Responses API. */
  native: ScriptedUpstream;
  /** Speaks chat completions. */
  plain: ScriptedUpstream;
}

const regions = [
  { locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 },
  { locode: 'usnyc', city: 'New York', country: 'US', lat: 40.7, lon: -74, carbon: 288 },
];
const price = { input: 3, output: 15, cached_input: 0.3, tools: { web_search: 10 } };
const capabilities = ['tools', 'vision', 'response_format', 'n', 'logprobs', 'logit_bias'];

const route = (provider: string, more: YamlObject = {}): YamlObject => ({
  provider,
  locode: 'defra',
  upstream_model: 'upstream-model',
  price,
  capabilities,
  ...more,
});

/** Models with routes of each kind of provider. The terms of `closed` exclude Russia. */
export function doorCatalogue(native: string, plain: string): YamlObject {
  const provider = (id: string, url: string, more: YamlObject = {}): YamlObject => ({
    id,
    base_url: `${url}/v1`,
    auth: 'none',
    headquarters: 'DE',
    cloud_act: false,
    ...more,
  });
  return {
    providers: [
      provider('claude', native, { dialect: 'anthropic' }),
      provider('respond', native, { apis: ['chat', 'responses', 'compact'] }),
      provider('plain', plain),
      provider('spare', plain),
      provider('closed', plain, { excluded_territories: ['RU'] }),
    ],
    regions,
    models: [
      {
        creator: 'acme',
        model: 'one',
        context_window: 200_000,
        max_output_tokens: 8_192,
        routes: ['claude', 'respond', 'plain', 'spare'].map((id) => route(id)),
      },
      {
        creator: 'acme',
        model: 'tiered',
        routes: [route('plain', { price: { ...price, tiers: { flex: { input: 1, output: 5 } } } })],
      },
      // One of each for every door, because breakers remember the failures of a route.
      ...['chat', 'messages', 'responses'].flatMap((door) =>
        ['pin', 'walk', 'commit', 'policy'].map((use) => ({
          creator: 'acme',
          model: `${use}-${door}`,
          routes: [route('plain', { carbon: 10 }), route('spare', { carbon: 500 })],
        })),
      ),
      {
        creator: 'acme',
        model: 'vectors',
        kind: 'embedding',
        dimensions: 256,
        routes: [route('plain')],
      },
      ...(['chat', 'embedding', 'rerank'] as const).flatMap((kind) => [
        { creator: 'acme', model: kind, kind, routes: [route('plain')] },
        { creator: 'acme', model: `placed-${kind}`, kind, routes: [route('closed', { carbon: 1 }), route('plain')] },
      ]),
    ],
  };
}

export function useDoors(config: YamlObject = {}): DoorBench {
  const bench = {} as DoorBench;
  beforeAll(async () => {
    [bench.native, bench.plain] = await Promise.all([startUpstream(), startUpstream()]);
    bench.gateway = await startGateway({ config, catalogue: doorCatalogue(bench.native.url, bench.plain.url) });
  });
  beforeEach(() => {
    bench.native.reset();
    bench.plain.reset();
  });
  afterAll(async () => {
    await bench.gateway?.stop();
    await bench.native?.stop();
    await bench.plain?.stop();
  });
  return bench;
}
