import { OpenRouter } from '@openrouter/sdk';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { streamOf } from '../../support/scripted-upstream.js';
import { json, sse } from '../../support/upstream-scripts.js';
import { route } from '../catalogue.js';
import { ask, expectError, messages, useGateway } from '../harness.js';

const model = (name: string, routes: Json[]) => ({ creator: 'meta', model: name, routes });
const bench = useGateway({
  config: { compat: { openrouter: true } },
  models: [
    model('colon:free', [route()]),
    { ...model('vectors', [route({ capabilities: [] })]), kind: 'embedding' },
    model('priced', [
      route({ price: { input: 5, output: 5 } }),
      route({ locode: 'frpar', price: { input: 1, output: 1 } }),
    ]),
  ],
});
const api = (method: string, path: string, body?: unknown) => bench.gateway.call(method, `/api/v1${path}`, body);
const chat = (body: Json, path = '/api/v1/chat/completions') => bench.gateway.chat({ messages, ...body }, { path });
const failing = () => bench.upstream.enqueue(json({ error: { message: 'busy' } }, { status: 503 }));

describe('ids of OpenRouter', () => {
  it('{creator}/{model} is auto/{creator}/{model}, at /v1 too, unless a name has that text', async () => {
    const plain = await bench.gateway.chat(ask({ model: 'meta/free' }));
    expect([plain.status, plain.json.model], plain.text).toEqual([200, 'acme/meta/free/defra']);
    expect(plain.json.router_metadata).toMatchObject({ requested_model: 'meta/free', name: null });
    await bench.gateway.admin('PUT', '/names/meta%2Ffree', { model: 'acme/meta/plain/defra' });
    expect((await bench.gateway.chat(ask({ model: 'meta/free' }))).json.model).toBe('acme/meta/plain/defra');
    await bench.gateway.admin('DELETE', '/names/meta%2Ffree');
    expect((await bench.gateway.chat(ask({ model: 'meta/nothing' }))).status).toBe(404);
    expect((await bench.gateway.call('GET', '/v1/models/meta/free')).json.id).toBe('meta/free');
  });

  it('a suffix sorts; the sort of the request wins; another suffix is 400 unless the catalogue has the id', async () => {
    const floor = await bench.gateway.chat(ask({ model: 'meta/priced:floor' }));
    expect(floor.json.router_metadata, floor.text).toMatchObject({ locode: 'frpar', request_policy: false });
    expect((await bench.gateway.chat(ask({ model: 'meta/priced:nitro' }))).status).toBe(200);
    const own = { model: 'meta/priced:floor', provider: { sort: { by: 'carbon' } } };
    expect((await bench.gateway.chat(ask(own))).json.router_metadata.request_policy).toBe(true);
    const other = await bench.gateway.chat(ask({ model: 'meta/priced:thinking' }));
    expectError(other, {
      ...{ status: 400, type: 'invalid_request_error', code: 'invalid_request_error', param: 'model' },
      says: [':thinking'],
    });
    const two = await bench.gateway.chat(ask({ model: 'meta/priced:online:floor' }));
    expect([two.status, two.json.error.param, two.json.error.message]).toEqual([
      400,
      'model',
      expect.stringContaining('":online"'),
    ]);
    expect((await bench.gateway.chat(ask({ model: 'meta/colon:free' }))).json.model).toBe('acme/meta/colon:free/defra');
  });
});

describe('fields of OpenRouter', () => {
  it('`models` is the chain; without `model` its first is the model; both at once are 400', async () => {
    failing();
    const chained = await bench.gateway.chat(ask({ model: 'meta/plain', models: ['meta/plain', 'meta/free'] }));
    expect([chained.status, chained.json.model], chained.text).toEqual([200, 'acme/meta/free/defra']);
    failing();
    const first = await chat({ models: ['meta/plain', 'meta/free'] });
    expect([first.json.model, first.json.router_metadata.requested_model]).toEqual(['meta/free', 'meta/plain']);
    const both = await bench.gateway.chat(ask({ models: ['meta/free'], fallback: { models: [] } }));
    expect([both.status, both.json.error.param]).toEqual([400, 'models']);
    expect((await bench.gateway.chat(ask({ models: 5 }))).json.error.param).toBe('models');
    const content = 'a'.repeat(400_000);
    const large = { models: ['meta/plain', 'meta/free'], messages: [{ role: 'user', content }] };
    expect((await chat(large)).json.model).toBe('meta/plain');
  });

  it('preferences order and exclude nobody; what asks for something else is 400 and named', async () => {
    const preferred = { preferred_max_latency: { p90: 0.000001 }, preferred_min_throughput: 1e9 };
    expect((await bench.gateway.chat(ask({ model: 'meta/priced', provider: preferred }))).status).toBe(200);
    const param = async (more: Json) => (await bench.gateway.chat(ask(more))).json.error?.param;
    expect(await param({ provider: { enforce_distillable_text: true } })).toBe('provider.enforce_distillable_text');
    expect(await param({ provider: { preferred_max_latency: 'fast' } })).toBe('provider.preferred_max_latency');
    expect(await param({ plugins: [{ id: 'web' }] })).toBe('plugins');
    expect(await param({ transforms: ['middle-out'] })).toBe('transforms');
    expect(await param({ plugins: [], transforms: [], provider: { enforce_distillable_text: false } })).toBeUndefined();
    expect(bench.upstream.calls.at(-1)!.json).not.toHaveProperty('transforms');
  });
});

describe('a name of the operator', () => {
  it('has no wishes in OpenRouter’s words, which only clients have', async () => {
    const put = (provider: Json) =>
      bench.gateway.admin('PUT', '/names/wishes', { model: 'auto/meta/priced', provider });
    for (const [wish, value] of [
      ['preferred_max_latency', 1],
      ['sort', { by: 'price' }],
      ['enforce_distillable_text', false],
    ] as const) {
      const { status, json: refused } = await put({ [wish]: value });
      expect([status, refused.error?.param], wish).toEqual([422, `provider.${wish}`]);
    }
    expect((await put({ sort: 'price' })).status).toBe(200);
    expect((await bench.gateway.chat(ask({ model: 'wishes' }))).json.router_metadata).toMatchObject({
      locode: 'frpar',
    });
  });
});

describe('/api/v1', () => {
  it('OPTIONS and 405 name the methods of its paths, as below /v1', async () => {
    for (const path of ['/chat/completions', '/keys', '/auth/key', '/models/meta/priced/endpoints']) {
      const { status, headers, text } = await api('OPTIONS', path);
      expect([status, text, headers['access-control-allow-methods']], path).toEqual([204, '', headers.allow]);
      expect(headers.allow).toMatch(/^(GET|POST|HEAD).*, OPTIONS$/);
      const wrong = await api('PATCH', path);
      expect([wrong.status, wrong.json.error.code, wrong.headers.allow], path).toEqual([405, 405, headers.allow]);
    }
    expect((await api('OPTIONS', '/nothing')).status).toBe(404);
    expect((await api('GET', '/responses/resp_1')).json.error.message).toContain('stores no responses');
  });

  it('a pricing fault in a stream has the code of a failed provider', async () => {
    const usage = { prompt_tokens: -1, completion_tokens: 1, total_tokens: 0 };
    bench.upstream.enqueue(sse(streamOf(['Hi'], { usage })));
    const reply = await bench.gateway.stream({ model: 'meta/plain', messages }, { path: '/api/v1/chat/completions' });
    const { error } = reply.frames.at(-1)!.json as { error: Json };
    expect(error).toMatchObject({ code: 503, metadata: { lodestone: { code: 'cost_unresolvable' } } });
  });

  it('models, endpoints, providers, generation, credits, key and errors have OpenRouter’s shapes', async () => {
    const { json: models } = await api('GET', '/models');
    const found = models.data.find((each: Json) => each.id === 'meta/priced');
    expect(found).toMatchObject({ canonical_slug: 'meta/priced', per_request_limits: null, pricing: { request: '0' } });
    const { json: endpoints } = await api('GET', '/models/meta/priced/endpoints');
    expect(endpoints.data).toMatchObject({ id: 'meta/priced', endpoints: [{ provider_name: 'acme cloud' }, {}] });
    expect((await api('GET', '/providers')).json.data).toContainEqual(expect.objectContaining({ slug: 'acme' }));
    const answer = await chat({ model: 'meta/free' });
    expect([answer.status, answer.json.model, typeof answer.json.router_metadata]).toEqual([
      200,
      'meta/free',
      'object',
    ]);
    const { json: generation } = await api('GET', `/generation?id=${answer.json.id}`);
    expect(generation.data).toMatchObject({ id: answer.json.id, model: 'meta/free', total_cost: 0, streamed: false });
    expect((await api('GET', '/credits')).json.data).toHaveProperty('total_credits');
    expect((await api('GET', '/key')).json.data).toMatchObject({ is_free_tier: false, limit: null });
    for (const [status, reply] of [
      [404, await chat({ model: 'meta/nothing' })],
      [404, await api('GET', '/nothing')],
      [401, await bench.gateway.call('GET', '/api/v1/key', undefined, { key: 'x' })],
    ] as const) {
      expect([reply.status, reply.json.error.code]).toEqual([status, status]);
      expect(reply.json.error.metadata.lodestone).toHaveProperty('type');
    }
  });

  it('answers of every API have {creator}/{model} as their model', async () => {
    const to = async (path: string, body: Json) => (await api('POST', path, { model: 'meta/free', ...body })).json;
    expect((await to('/responses', { input: 'Say hello.' })).model).toBe('meta/free');
    expect((await to('/messages', { messages, max_tokens: 9 })).model).toBe('meta/free');
    bench.upstream.enqueue(sse(streamOf(['Hel', 'lo'])));
    const events = (await api('POST', '/responses', { model: 'meta/free', input: 'Say hello.', stream: true })).text;
    expect(new Set(events.match(/"model":"meta[^"]*"/g))).toEqual(new Set(['"model":"meta/free"']));
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    bench.upstream.enqueue(json({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
    const embedded = await to('/embeddings', { model: 'meta/vectors', input: 'a' });
    expect([embedded.model, embedded.router_metadata?.served_model]).toEqual([
      'meta/vectors',
      'acme/meta/vectors/defra',
    ]);
  });

  it('a stream ends with the usage, asked for or not', async () => {
    bench.upstream.enqueue(sse(streamOf(['Hel', 'lo'])));
    const { key } = await bench.gateway.account();
    const body = { model: 'meta/free', messages, stream: true };
    const { text } = await bench.gateway.call('POST', '/api/v1/chat/completions', body, { key });
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: {'));
    expect(JSON.parse(frames.at(-1)!.slice(6)).usage).toMatchObject({ cost: 0, total_tokens: expect.any(Number) });
  });

  it('a model has the price of its cheapest route', async () => {
    const pricing = { prompt: '0.000001', completion: '0.000001' };
    const found = (await api('GET', '/models')).json.data.find((each: Json) => each.id === 'meta/priced');
    expect(found.pricing).toMatchObject(pricing);
    expect((await api('GET', '/models/meta/priced')).json.data.pricing).toMatchObject(pricing);
    await bench.gateway.admin('PUT', '/names/mine', { model: 'auto/meta/priced' });
    expect((await api('GET', '/models/mine')).json.data.pricing).toMatchObject(pricing);
    await bench.gateway.admin('DELETE', '/names/mine');
  });

  it('/auth/key is /key, as older clients call it', async () => {
    const { key } = await bench.gateway.account();
    const [old, now] = await Promise.all(
      ['auth/key', 'key'].map((path) => bench.gateway.call('GET', `/api/v1/${path}`, undefined, { key })),
    );
    expect([old!.status, old!.json]).toEqual([200, now!.json]);
    expect((await bench.gateway.call('GET', '/v1/auth/key', undefined, { key })).status).toBe(404);
  });

  it('keys are made and changed in OpenRouter’s words, too', async () => {
    const { accountId } = await bench.gateway.account();
    const made = await bench.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'm', kind: 'management' });
    const client = new OpenRouter({ apiKey: made.json.token, serverURL: `${bench.gateway.url}/api/v1` });
    const expiresAt = new Date(Date.now() + 86_400_000);
    const limits = { limit: 2.5, limitReset: 'monthly' as const, includeByokInLimit: false };
    const { data, key } = await client.apiKeys.create({ requestBody: { name: 'new', ...limits, expiresAt } });
    expect([data.limit, data.limitReset, data.expiresAt]).toEqual([2.5, 'monthly', expiresAt]);
    expect((await bench.gateway.chat(ask({ model: 'meta/free' }), { key })).status).toBe(200);
    const change = { disabled: true, limit: 0.000001, limitReset: null };
    const changed = await client.apiKeys.update({ hash: data.hash, requestBody: change });
    expect([changed.data.disabled, changed.data.limit, changed.data.limitReset]).toEqual([true, 0.000001, null]);
    // Whether own credentials count is a setting of the account.
    const byok = { hash: data.hash, requestBody: { includeByokInLimit: true } };
    expect((await client.apiKeys.update(byok)).data.includeByokInLimit).toBe(true);
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { budgets_count_own_keys: false });
    await expect(client.apiKeys.update(byok)).rejects.toThrow('include_byok_in_limit');
    expect((await client.apiKeys.delete({ hash: data.hash })).deleted).toBe(true);
  });

  it('OpenRouter’s own client reads it', async () => {
    const { key } = await bench.gateway.account();
    const client = new OpenRouter({ apiKey: key, serverURL: `${bench.gateway.url}/api/v1` });
    const chatRequest = { model: 'meta/free', messages: [{ role: 'user' as const, content: 'Say hello.' }] };
    expect(await client.chat.send({ chatRequest })).toMatchObject({ model: 'meta/free' });
    bench.upstream.enqueue(sse(streamOf(['Hel', 'lo'])));
    const stream = await client.chat.send({ chatRequest: { ...chatRequest, stream: true } });
    const models: string[] = [];
    for await (const chunk of stream as AsyncIterable<{ model: string }>) models.push(chunk.model);
    expect(new Set(models)).toEqual(new Set(['meta/free']));
    const ids: string[] = [];
    for await (const page of await client.models.list()) ids.push(...page.result.data.map(({ id }) => id));
    expect(ids).toContain('meta/free');
    expect((await client.endpoints.list({ author: 'meta', slug: 'priced' })).data.endpoints).toHaveLength(2);
    expect((await client.providers.list()).data.map(({ slug }) => slug)).toContain('acme');
    expect((await client.apiKeys.getCurrentKeyMetadata()).data.limit).toBeNull();
    expect((await client.credits.getCredits()).data.totalCredits).toBe(100);
    const { id } = (await client.chat.send({ chatRequest })) as { id: string };
    expect((await client.generations.getGeneration({ id })).data.model).toBe('meta/free');
  });
});
