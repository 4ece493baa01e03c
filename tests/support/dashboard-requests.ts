/** One request of every kind, really sent: served, failed, after fallback, cut, cancelled, by alias and name, of several API keys and projects. */
import { expect } from 'vitest';
import { dashboardCall, type Member } from './dashboard.js';
import { dashboardCatalogue } from './dashboard-catalogue.js';
import type { TestGateway } from './gateway.js';
import type { YamlObject } from './gateway-files.js';
import { json, type ScriptedUpstream } from './scripted-upstream.js';

const sandboxModel = (model: string, routes: YamlObject[]): YamlObject => ({
  ...{ creator: 'lodestone', model, name: `Sandbox ${model}`, context_window: 65_536, max_output_tokens: 8192 },
  routes: routes.map((route) => ({ locode: 'global', price: { input: 1, output: 2 }, ...route })),
});

/** Models that fail in the ways that the dashboard shows; and a provider that takes a customer's own credential, at `upstream`. */
export function catalogueOfEveryKind(upstream: ScriptedUpstream): YamlObject {
  const { providers, models, ...rest } = dashboardCatalogue as { providers: YamlObject[]; models: YamlObject[] };
  return {
    ...rest,
    providers: providers.map((provider) =>
      provider.id === 'meridian' ? { ...provider, base_url: `${upstream.url}/v1` } : provider,
    ),
    models: [
      ...models,
      sandboxModel('spare', [
        { provider: 'sandbox', upstream_model: 'server-error' },
        { provider: 'northwind', locode: 'frpar', upstream_model: 'echo' },
      ]),
      sandboxModel('full', [{ provider: 'sandbox', upstream_model: 'capacity' }]),
      sandboxModel('cut', [{ provider: 'sandbox', upstream_model: 'cut' }]),
      sandboxModel('slow', [{ provider: 'sandbox', upstream_model: 'slow' }]),
    ],
  };
}

const noFallback = { fallback: { models: [] } };

interface Kept {
  id: string;
  name: string;
  token: string;
}

/** Sends them and returns how many there were. Some of an hour ago would cost nothing more to tell apart, so all are of now. */
export async function sendEveryKind(gateway: TestGateway, owner: Member, upstream: ScriptedUpstream): Promise<number> {
  const call = async (method: string, path: string, body: unknown) =>
    (await dashboardCall(gateway, method, path, body, owner)).json();
  const project = ((await call('POST', 'projects', { name: 'assistant' })) as { id: string }).id;
  const newKey = async (name: string, of: string | null) =>
    (await call('POST', 'keys', { name, expires: 'never', ...(of && { project: of }) })) as Kept;
  const batch = await newKey('batch', null);
  const assistant = await newKey('assistant', project);
  // A name twice, and one that must be written in another way in an address.
  const again = await newKey('batch', project);
  const odd = await newKey('a&b=c #1 <b>%2F</b>', null);
  await call('POST', 'v1/aliases', { name: 'gone', target: 'auto/lodestone/full' });
  await call('POST', 'credentials', {
    ...{ provider: 'meridian', name: 'our Meridian key', secret: { api_key: 'own-key-of-a-test' }, project },
    use: 'only',
  });
  const named = await gateway.admin('PUT', '/names/house-model', { model: 'auto/qwen/qwen3-32b' });
  expect(named.status, named.text).toBeLessThan(300);

  const messages = [{ role: 'user', content: 'Count to twenty, slowly, and do not stop before you are there.' }];
  let sent = 0;
  const ask = async (key: Kept, model: string, status: number, more: object = {}) => {
    sent++;
    const reply = await gateway.chat({ model, messages, ...more }, { key: key.token });
    expect([model, reply.status, reply.status === status ? '' : reply.text]).toEqual([model, status, '']);
  };
  const stream = async (key: Kept, model: string, hangUpAfter?: number) => {
    sent++;
    await gateway.stream({ model, messages }, { key: key.token, ...(hangUpAfter && { hangUpAfter }) });
  };
  upstream.reply(
    json({ choices: [{ index: 0, message: { role: 'assistant', content: 'One' }, finish_reason: 'stop' }] }),
  );
  await Promise.all([
    ...[batch, assistant, again, odd].map((key) => ask(key, 'auto/meta/llama-3.3-70b', 200)),
    ask(batch, 'northwind/meta/llama-3.3-70b/defra', 200),
    ask(batch, 'alias/fast', 200),
    ask(assistant, 'house-model', 200),
    ask(assistant, 'auto/lodestone/spare', 200),
    // Served by another model than the one that was asked for.
    ask(assistant, 'auto/lodestone/full', 200, { fallback: { models: ['auto/mistral/small-3.2'] } }),
    ask(assistant, 'meridian/meta/llama-3.3-70b/gblon', 200),
    stream(again, 'auto/qwen/qwen3-32b'),
    stream(batch, 'auto/lodestone/cut'),
    stream(batch, 'auto/lodestone/slow', 1),
  ]);
  await Promise.all([
    ...['auto/lodestone/full', 'sandbox/lodestone/full', 'alias/gone'].map((model) =>
      ask(again, model, 503, noFallback),
    ),
    ask(again, 'auto/lodestone/full', 503, noFallback),
    ask(odd, 'auto/nobody/nothing', 404),
    ask(odd, 'alias/nobody', 404),
  ]);
  return sent;
}
