/** OpenRouter's own client and OpenAI's, unchanged, with the wishes of a request: each has its effect, and none reaches an upstream. */
import { OpenRouter } from '@openrouter/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import {
  chunk,
  completion,
  json,
  type ScriptedUpstream,
  sse,
  startUpstream,
  streamOf,
  usage,
} from '../support/scripted-upstream.js';

const model = 'auto/meta/gated';
const messages = [{ role: 'user' as const, content: 'Hello' }];
/** What only the gateway reads. */
const fieldsOfTheGateway = ['provider', 'session_id', 'fallback'];

/** Three providers that differ in everything that a client of OpenRouter can ask for. */
const providers = [
  { id: 'private', data_policy: { trains: false, retention_days: 0 }, quantization: 'fp8', input: 3 },
  { id: 'keeping', data_policy: { trains: false, retention_days: 30 }, quantization: 'fp16', input: 2 },
  { id: 'silent', data_policy: undefined, quantization: undefined, input: 1 },
];
const source = { source: 'https://example.test/terms', as_of: '2026-10-01' };

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let key = '';
beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalogue: {
      providers: providers.map(({ id, data_policy }) => ({
        id,
        base_url: `${upstream.url}/v1`,
        auth: 'none',
        ...(data_policy && { data_policy: { ...data_policy, ...source } }),
      })),
      regions: [{ locode: 'defra', country: 'DE', carbon: 100 }],
      models: [
        {
          creator: 'meta',
          model: 'gated',
          routes: providers.map(({ id, quantization, input }) => ({
            provider: id,
            locode: 'defra',
            price: { input, output: 10 },
            ...(quantization && { quantization }),
          })),
        },
      ],
    },
  });
  key = (await gateway.createAccount()).key;
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const openrouter = () => new OpenRouter({ apiKey: key, serverURL: `${gateway.url}/v1` });
const openai = () => new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
/** The provider that served the last generation, and the wishes that it keeps. */
async function lastGeneration() {
  const { data } = (await gateway.call('GET', '/v1/generations?limit=1', undefined, { key })).json;
  return data[0];
}
function lastBody() {
  const body = JSON.parse(String(upstream.calls.at(-1)!.body));
  for (const field of fieldsOfTheGateway) expect(body, field).not.toHaveProperty(field);
  return body;
}

type Wishes = NonNullable<Parameters<OpenRouter['chat']['send']>[0]['chatRequest']['provider']>;
const wishes: readonly { title: string; sent: Wishes; served: string }[] = [
  { title: 'only', sent: { only: ['keeping'] }, served: 'keeping' },
  { title: 'ignore', sent: { ignore: ['silent', 'keeping'] }, served: 'private' },
  { title: 'order', sent: { order: ['keeping', 'private'] }, served: 'keeping' },
  { title: 'allow_fallbacks', sent: { order: ['private'], allowFallbacks: false }, served: 'private' },
  { title: 'require_parameters', sent: { requireParameters: true, only: ['silent'] }, served: 'silent' },
  { title: 'data_collection', sent: { dataCollection: 'deny', sort: 'price' }, served: 'keeping' },
  { title: 'zdr', sent: { zdr: true }, served: 'private' },
  { title: 'quantizations', sent: { quantizations: ['fp16'] }, served: 'keeping' },
  { title: 'sort', sent: { sort: 'price' }, served: 'silent' },
  {
    title: 'max_price',
    sent: { maxPrice: { prompt: '2.5', completion: '10' }, ignore: ['silent'] },
    served: 'keeping',
  },
];

describe('OpenRouter’s client', () => {
  it.each(wishes)('has $title fulfilled', async ({ sent, served }) => {
    const chatRequest = { model, messages, provider: sent, sessionId: `for ${served}` };
    expect(await openrouter().chat.send({ chatRequest })).toHaveProperty('choices');
    const generation = await lastGeneration();
    expect(generation.provider).toBe(served);
    expect(Object.keys(generation.request_policy).length).toBe(Object.keys(sent).length);
    expect(lastBody().messages).toEqual(messages);
  });

  const cached = usage(9, 3, { prompt_tokens_details: { cached_tokens: 4 } });
  const calls = [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const nulls = { tool_calls: null, audio: null, refusal: null, reasoning_content: null };

  it('reads whole answers, with the cost of both sides', async () => {
    upstream.enqueue(json(completion({ usage: cached })));
    const provider = { only: ['keeping'] };
    const chat = await openrouter().chat.send({ chatRequest: { model, messages, provider } });
    const costDetails = {
      upstreamInferenceCost: 0.000048,
      upstreamInferencePromptCost: 0.000018,
      upstreamInferenceCompletionsCost: 0.00003,
    };
    expect(chat).toMatchObject({ usage: { cost: 0.000048, costDetails } });
    upstream.enqueue(json(completion()));
    const response = await openrouter().responses.send({ responsesRequest: { model, input: 'Hello', provider } });
    expect(response).toMatchObject({ usage: { costDetails: { upstreamInferenceOutputCost: 0.00003 } } });
  });

  it.each([
    ['text', streamOf(['Hello', ' there'])],
    ['a call', [chunk({ delta: { tool_calls: calls } }), chunk({ finishReason: 'tool_calls' })]],
    ['null for what is not there', [chunk({ delta: { content: 'a', ...nulls } }), chunk({ finishReason: 'stop' })]],
  ])('reads a stream of %s', async (_, frames) => {
    upstream.enqueue(sse(frames.map((frame) => ({ ...(frame as object), system_fingerprint: null }))));
    const streamOptions = { includeUsage: true };
    const stream = await openrouter().chat.send({ chatRequest: { model, messages, stream: true, streamOptions } });
    const chunks = [];
    for await (const each of stream as AsyncIterable<object>) chunks.push(each);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { costDetails: { upstreamInferenceCost: expect.any(Number) } },
    });
  });

  it('reads the refusal of a wish that no route fulfils, and of a field that is not known here', async () => {
    const before = upstream.calls.length;
    const refusal = (provider: Wishes) => openrouter().chat.send({ chatRequest: { model, messages, provider } });
    await expect(refusal({ zdr: true, only: ['silent'] })).rejects.toMatchObject({ statusCode: 403 });
    await expect(refusal({ enforceDistillableText: true })).rejects.toMatchObject({ statusCode: 400 });
    expect(upstream.calls.length).toBe(before);
  });
});

describe('OpenAI’s client with extra fields', () => {
  const extra = {
    provider: {
      only: ['private', 'keeping'],
      ignore: ['keeping'],
      order: ['private'],
      allow_fallbacks: true,
      require_parameters: true,
      data_collection: 'deny',
      zdr: true,
      quantizations: ['fp8'],
      sort: 'throughput',
      max_price: { prompt: 5, completion: '20', request: 0 },
      sticky: false,
      max_carbon: 400,
      deny_cloud_act: null,
      regions: { allow: ['defra'] },
      max_retention_days: 0,
      certifications: [],
    },
    session_id: 'extra',
  };

  it('has every field read, and none sent on, at each of its APIs', async () => {
    const before = upstream.calls.length;
    const chat = await openai().chat.completions.create({ model, messages, ...extra } as never);
    expect((chat as unknown as { router_metadata: object }).router_metadata).toMatchObject({
      provider: 'private',
      request_policy: true,
    });
    lastBody();
    const response = await openai().responses.create({ model, input: 'Hello', store: false, ...extra } as never);
    expect((response as unknown as { router_metadata: object }).router_metadata).toMatchObject({ provider: 'private' });
    lastBody();
    expect(upstream.calls.length).toBe(before + 2);
    expect((await lastGeneration()).request_policy).toMatchObject({ only: ['private', 'keeping'], sticky: false });
  });
});
