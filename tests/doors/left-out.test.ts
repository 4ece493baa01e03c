/** Chat fields that a provider's API has no place for: they are named in the answer, and refused where the request is strict. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anthropicFixture } from '../dialects/anthropic.js';
import { bedrockFixture } from '../dialects/bedrock.js';
import { geminiFixture } from '../dialects/gemini.js';
import type { Json } from '../support/client.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { completion, json, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';

const path = '/v1/chat/completions';
const strictly = { 'x-lodestone-strict': 'true' };
const fixtures = { claude: anthropicFixture, gemini: geminiFixture, bedrock: bedrockFixture };
type Translated = keyof typeof fixtures;
const said = { text: ['Hello'], finish: 'stop', usage: { prompt: 3, cached: 0, completion: 2, reasoning: 0 } } as const;

let gateway: TestGateway;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  const route = (provider: string, upstream_model: string, more = {}) => ({
    ...{ provider, locode: 'defra', upstream_model, price: { input: 3, output: 15 } },
    ...{ capabilities: ['tools', 'vision', 'response_format'], ...more },
  });
  const provider = (id: string, basePath: string, dialect: string) => ({
    ...{ id, base_url: `${upstream.url}${basePath}`, auth: 'none', headquarters: 'DE', cloud_act: false, dialect },
  });
  const translated = Object.entries(fixtures);
  gateway = await startGateway({
    catalogue: {
      providers: [
        ...translated.map(([id, { basePath, dialect }]) => provider(id, basePath, dialect)),
        provider('plain', '/v1', 'openai'),
      ],
      regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
      models: [
        {
          creator: 'acme',
          model: 'one',
          max_output_tokens: 8_192,
          routes: [
            ...translated.map(([id, { upstreamModel }]) => route(id, upstreamModel, { carbon: 1 })),
            route('plain', 'some-model', { carbon: 900 }),
          ],
        },
        {
          creator: 'acme',
          model: 'old',
          routes: [
            route('gemini', 'gemini-2.0-flash'),
            route('plain', 'some-model', { unsupported_parameters: ['temperature'] }),
            route('claude', 'claude-opus-5-1'),
          ],
        },
      ],
    },
  });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const ask = (provider: string, more: Json = {}, model = 'one'): Json => ({
  model: `${provider}/acme/${model}/defra`,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const post = (body: Json, headers = {}) => gateway.call('POST', path, body, { headers });
const answerOf = (provider: string) =>
  json(
    provider === 'plain'
      ? completion()
      : { ...(fixtures[provider as Translated].whole(said) as object), modelVersion: undefined },
  );

/** Each with a value, and the dialects that leave it out. */
const hints: readonly [field: string, value: unknown, leftOutBy: readonly Translated[]][] = [
  ['metadata', { a: 'b' }, ['claude', 'gemini', 'bedrock']],
  ['metadata', { user_id: 'u' }, ['gemini', 'bedrock']],
  ['verbosity', 'low', ['claude', 'gemini', 'bedrock']],
  ['prompt_cache_key', 'k', ['claude', 'gemini', 'bedrock']],
  ['prompt_cache_retention', '24h', ['claude', 'gemini', 'bedrock']],
  ['prompt_cache_options', { a: 1 }, ['claude', 'gemini', 'bedrock']],
  ['store', true, ['claude', 'gemini', 'bedrock']],
  ['prediction', { type: 'content', content: 'x' }, ['claude', 'gemini', 'bedrock']],
  ['safety_identifier', 's', ['gemini', 'bedrock']],
  ['user', 'u', ['gemini', 'bedrock']],
  ['seed', 7, ['claude', 'bedrock']],
  ['frequency_penalty', 0.5, ['claude', 'bedrock']],
  ['presence_penalty', 0.5, ['claude', 'bedrock']],
  ['temperature', 1.5, ['claude', 'bedrock']],
  ['parallel_tool_calls', false, ['gemini', 'bedrock']],
  ['reasoning_effort', 'low', []],
];

describe.each([...Object.keys(fixtures), 'plain'])('on %s', (provider) => {
  it.each(hints)('%s: %j', async (field, value, leftOutBy) => {
    const isLeftOut = leftOutBy.includes(provider as Translated);
    upstream.enqueue(answerOf(provider), answerOf(provider));
    const reply = await post(ask(provider, { [field]: value }));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata.omitted).toEqual(isLeftOut ? [field] : undefined);
    const strict = await post(ask(provider, { [field]: value }), strictly);
    if (!isLeftOut) return void expect(strict.status, strict.text).toBe(200);
    expect(strict, strict.text).toMatchObject({ status: 400, json: { error: { param: field } } });
    expect(strict.json.error).not.toHaveProperty('code');
    expect(upstream.calls).toHaveLength(1);
  });

  it('what asks for nothing is not named', async () => {
    upstream.enqueue(answerOf(provider));
    const nothing = { store: false, metadata: {}, frequency_penalty: 0, user: '', service_tier: 'auto', seed: null };
    const reply = await post(ask(provider, { ...nothing, parallel_tool_calls: true, temperature: 1 }), strictly);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata).not.toHaveProperty('omitted');
  });

  it.each([
    [[{ role: 'user', content: [] }]],
    [[{ role: 'user', content: '' }]],
    [[{ role: 'system', content: 'Be brief.' }]],
  ])('a conversation without content: %j', async (messages) => {
    upstream.enqueue(answerOf(provider));
    const reply = await post(ask(provider, { messages }));
    if (provider === 'plain') return void expect(reply.status).toBe(200);
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'messages' } } });
    expect(reply.json.error.message).toContain('Change `messages`');
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('what depends on the model, the place or another field', () => {
  const text = { type: 'text', text: 'Hi' };
  const marked = { messages: [{ role: 'user', content: [{ ...text, cache_control: { type: 'ephemeral' } }] }] };
  it.each<[provider: string, model: string, more: Json, omitted: string[] | undefined]>([
    ['gemini', 'one', marked, ['cache_control']],
    ['gemini', 'one', { messages: [{ role: 'user', content: [text] }] }, undefined],
    ['claude', 'one', marked, undefined],
    ['claude', 'one', { user: 'a', safety_identifier: 'b' }, ['user']],
    ['claude', 'one', { temperature: 0.5, top_p: 0.5 }, ['top_p']],
    ['claude', 'old', { temperature: 0.5, top_p: 0.5 }, ['temperature', 'top_p']],
    ['gemini', 'old', { reasoning_effort: 'low' }, ['reasoning_effort']],
    ['plain', 'old', { temperature: 0.5, top_p: 0.5 }, ['temperature']],
  ])('%s/%s: %j', async (provider, model, more, omitted) => {
    upstream.enqueue(answerOf(provider));
    const reply = await post(ask(provider, more, model));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata.omitted).toEqual(omitted);
    if (omitted === undefined) return;
    const strict = await post(ask(provider, more, model), strictly);
    expect(strict, strict.text).toMatchObject({ status: 400, json: { error: { param: omitted[0] } } });
  });

  it('a large body names it too', async () => {
    upstream.enqueue(answerOf('claude'));
    const messages = [{ role: 'user', content: 'x'.repeat(300_000) }];
    const reply = await post(ask('claude', { messages, seed: 1 }));
    expect(reply.json.router_metadata?.omitted, reply.text.slice(0, 300)).toEqual(['seed']);
  });

  it('a response names what the dialect leaves out, by its own names, and does not repeat it', async () => {
    upstream.enqueue(answerOf('bedrock'));
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }];
    const body = { model: 'bedrock/acme/one/defra', input: 'Hi', temperature: 1.5, parallel_tool_calls: false, tools };
    const reply = await gateway.call('POST', '/v1/responses', body);
    expect(reply.json.router_metadata?.omitted, reply.text).toEqual(['temperature', 'parallel_tool_calls']);
    expect(reply.json).toMatchObject({ temperature: 1, parallel_tool_calls: true });
  });

  it('a message names what the dialect leaves out by its own names', async () => {
    upstream.enqueue(answerOf('gemini'));
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    const body = { ...ask('gemini', { tools, tool_choice }), max_tokens: 9 };
    const reply = await gateway.call('POST', '/v1/messages', body);
    expect(reply.json.router_metadata?.omitted, reply.text).toEqual(['tool_choice.disable_parallel_tool_use']);
  });

  it('auto prefers a route that leaves nothing out', async () => {
    upstream.enqueue(json(completion()));
    const reply = await post({ ...ask('plain', { store: true }), model: 'auto/acme/one' });
    expect(reply.json.router_metadata, reply.text).toMatchObject({ provider: 'plain' });
  });
});

it('options of a web search without a price are refused by their own name', async () => {
  const reply = await post(ask('plain', { web_search_options: {} }));
  expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'web_search_options' } } });
  expect(reply.json.error.message).toContain('Leave `web_search_options` out');
  expect(upstream.calls).toHaveLength(0);
});
