/** One gateway whose providers have several keys each, before a scripted upstream that shows which one a call carries. */
import { afterAll, beforeAll } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { json, type ScriptedUpstream, startUpstream, type UpstreamCallLog } from '../../support/scripted-upstream.js';
import { makeSecretsKey } from '../../support/secrets-key.js';

export const clock = new ManualClock();
export const weights = { w: 4, x: 3, y: 2, z: 1 };
export const prompt = [{ role: 'user', content: 'Hi' }];

const key = (name: string, more: YamlObject = {}): YamlObject => ({ name, api_key: `key-${name}`, ...more });

/** The name of the key that a call was sent with. */
export function keyOf({ headers }: UpstreamCallLog): string {
  const sent = headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '') ?? '';
  return sent.replace(/^key-/, '');
}

export const pin = 'pair/meta/llama/defra';

export const limited = (headers: Record<string, string> = {}) =>
  json({ error: { message: 'Rate limit reached for requests', type: 'rate_limit_error' } }, { status: 429, headers });

interface KeyedRig {
  gateway: TestGateway;
  /** Of every provider with keys. */
  upstream: ScriptedUpstream;
  /** Of the provider `spare`, which has no key. */
  spare: ScriptedUpstream;
}

const route = (provider: string, more: YamlObject = {}): YamlObject => ({
  ...{ provider, locode: 'defra', upstream_model: 'upstream-model', price: { input: 0.6, output: 0.8 } },
  ...more,
});

export function keyedRig(): KeyedRig {
  const rig = {} as KeyedRig;
  beforeAll(async () => {
    [rig.upstream, rig.spare] = await Promise.all([startUpstream(), startUpstream()]);
    const provider = (id: string, more: YamlObject = {}): YamlObject => ({
      ...{ id, base_url: `${rig.upstream.url}/v1`, headquarters: 'DE', cloud_act: false },
      ...more,
    });
    const keyed = ['pair', 'claude', 'respond', 'quad', 'scoped', 'partial'];
    rig.gateway = await startGateway({
      clock,
      config: {
        limits: { key_requests_per_minute: 1_000_000, ip_requests_per_minute: 1_000_000 },
        secrets: { key_file: makeSecretsKey() },
        providers: {
          pair: { keys: [key('a'), key('b')] },
          claude: { keys: [key('a'), key('b')] },
          respond: { keys: [key('a'), key('b')] },
          quad: { keys: Object.entries(weights).map(([name, weight]) => key(name, { weight })) },
          scoped: {
            api_key: 'key-default',
            keys: [key('first', { models: ['meta/llama'] }), key('second', { models: ['meta/other'] })],
          },
          partial: { keys: [key('only', { models: ['meta/llama', 'acme/*'] })] },
        },
      },
      catalogue: {
        providers: [
          ...keyed.map((id) =>
            provider(id, {
              ...(id === 'claude' && { dialect: 'anthropic' }),
              ...(id === 'respond' && { apis: ['chat', 'responses'] }),
            }),
          ),
          provider('spare', { base_url: `${rig.spare.url}/v1`, auth: 'none' }),
        ],
        regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
        models: [
          {
            creator: 'meta',
            model: 'llama',
            routes: [...keyed.slice(0, 1), 'spare', ...keyed.slice(1)].map((id) => route(id, { price: priceOf(id) })),
          },
          { creator: 'meta', model: 'other', routes: [route('pair'), route('scoped'), route('partial')] },
          { creator: 'meta', model: 'vectors', kind: 'embedding', dimensions: 2, routes: [route('pair')] },
          {
            creator: 'meta',
            model: 'batches',
            kind: 'embedding',
            dimensions: 2,
            routes: [route('pair', { max_batch: 1 })],
          },
        ],
      },
    });
  });
  afterAll(async () => {
    await rig.gateway?.stop();
    await rig.upstream?.stop();
    await rig.spare?.stop();
  });
  return rig;
}

/** `auto/` prefers `pair`, then `spare`. */
function priceOf(id: string): YamlObject {
  const input = id === 'pair' ? 0.01 : id === 'spare' ? 1 : 1_000;
  return { input, output: input };
}

/** Past every hold, breaker, quota and refusal of the test before. */
export async function startAnew({ upstream, spare, gateway }: KeyedRig): Promise<void> {
  upstream.reset();
  spare.reset();
  clock.advance(86_400_000);
  await gateway.admin('POST', '/catalogue/reload');
}

/** A route as the operator sees it. */
export async function rowOf({ gateway }: KeyedRig, id: string): Promise<{ id: string; [field: string]: unknown }> {
  const { json: routes } = await gateway.admin('GET', '/routes');
  return (routes.data as { id: string }[]).find((row) => row.id === id)!;
}
