/** Single rules of the client APIs: keys, counts, what is left out, what is refused, and in which words. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { chunk, completion, json, sse, usage } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { doorCases } from './doors.js';

const bench = useDoors();
const plainPin = 'plain/acme/one/defra';
const nativePins: Record<string, string> = { messages: 'claude/acme/one/defra', responses: 'respond/acme/one/defra' };
const doorNamed = (name: string) => doorCases.find((door) => door.name === name)!;
const messages = doorNamed('messages');
const responses = doorNamed('responses');
const post = (path: string, body: unknown, options = {}) => bench.gateway.call('POST', path, body, options);

describe('keys', () => {
  it('the messages API takes x-api-key beside Authorization, and refuses two keys that differ', async () => {
    const { key } = await bench.gateway.createAccount();
    const ask = messages.ask(plainPin);
    const withHeaders = (headers: Record<string, string>, path = messages.path, body: Json = ask) =>
      post(path, body, { key: null, headers });
    expect((await withHeaders({ 'x-api-key': key })).status).toBe(200);
    expect((await withHeaders({ 'x-api-key': key, authorization: `Bearer ${key}` })).status).toBe(200);
    expect(await withHeaders({ 'x-api-key': key, authorization: 'Bearer sk-lr-other' })).toMatchObject({
      status: 401,
      json: { type: 'error', error: { type: 'authentication_error', code: 'api_key_malformed' } },
    });
    expect((await withHeaders({ 'x-api-key': key }, '/v1/messages/count_tokens')).status).toBe(200);
    expect((await withHeaders({ 'x-api-key': key }, responses.path, responses.ask(plainPin))).status).toBe(401);
  });
});

describe('count_tokens', () => {
  const count = (model: string, options = {}) =>
    post('/v1/messages/count_tokens', { model, messages: [{ role: 'user', content: 'Hi' }] }, options);

  it('needs no credit and no budget, asks a native route, writes no generation, and counts here where that fails', async () => {
    const { key, accountId } = await bench.gateway.createAccount({ credit: null });
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { budget: { limit_usd: '0' } });
    bench.native.enqueue(json({ input_tokens: 42 }), json({ error: { message: 'no' } }, { status: 500 }));
    expect((await count(nativePins.messages!, { key })).json).toEqual({ input_tokens: 42 });
    expect(bench.native.calls[0]).toMatchObject({
      path: '/v1/messages/count_tokens',
      json: { model: 'upstream-model' },
    });
    const local = { input_tokens: expect.any(Number), router_metadata: { counted: 'local' } };
    expect((await count(nativePins.messages!, { key })).json).toEqual(local);
    expect((await count(plainPin, { key })).json).toEqual(local);
    expect(bench.plain.calls).toHaveLength(0);
    expect((await bench.gateway.call('GET', '/v1/generations', undefined, { key })).json.data).toEqual([]);
  });

  it('counts against the requests of the key, not against its tokens', async () => {
    const { key, accountId } = await bench.gateway.createAccount();
    const limits = { requests_per_minute: 2, tokens_per_minute: 1 };
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { limits });
    const statuses = [await count(plainPin, { key }), await count(plainPin, { key }), await count(plainPin, { key })];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
  });
});

describe('what a translation leaves out', () => {
  const cases: [door: string, more: Json, omitted: string[]][] = [
    ['messages', { context_management: { edits: [] } }, ['context_management']],
    ['messages', { tools: [{ type: 'web_search_20260209', name: 'web_search' }] }, ['tools.web_search']],
    ['messages', { cache_control: { type: 'ephemeral' } }, ['cache_control']],
    ['responses', { tools: [{ type: 'web_search' }] }, ['tools.web_search']],
    ['responses', { tools: [{ type: 'web_search' }], tool_choice: 'auto' }, ['tools.web_search']],
  ];

  it.each(cases)('%s: %j is named, and refused where the request is strict', async (name, more, omitted) => {
    const door = doorNamed(name);
    bench.plain.enqueue(json(completion({ usage: usage(1, 1) })));
    const reply = await post(door.path, door.ask(plainPin, more));
    expect(reply.json.router_metadata, reply.text).toMatchObject({ omitted });
    const strict = await post(door.path, door.ask(plainPin, more), { headers: { 'x-lodestone-strict': 'true' } });
    expect(strict).toMatchObject({ status: 400, json: { error: { type: 'invalid_request_error' } } });
    expect(strict.json.error.code).toBeUndefined();
    expect(bench.plain.calls).toHaveLength(1);
  });

  it('nothing is named where nothing is left out, and auto prefers a route that leaves nothing out', async () => {
    bench.plain.enqueue(json(completion()));
    const whole = await post(messages.path, messages.ask(plainPin));
    expect(whole.json.router_metadata.omitted).toBeUndefined();
    const answer = { id: 'm', type: 'message', role: 'assistant', model: 'upstream-model', content: [] };
    bench.native.enqueue(json({ ...answer, stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } }));
    const asked = messages.ask('auto/acme/one', { context_management: { edits: [] } });
    const walked = await post(messages.path, asked);
    expect(walked.json.router_metadata, walked.text).toMatchObject({ provider: 'claude' });
  });
});

describe('what is refused before a provider is asked', () => {
  const custom = { type: 'custom', name: 'x', format: { type: 'grammar' } };
  const forced = { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } };
  const forcedClaude = {
    tools: [{ type: 'web_search_20260209', name: 'web_search' }],
    tool_choice: { type: 'tool', name: 'web_search' },
  };
  it.each<[door: string, what: string, more: Json, param: string]>([
    ['messages', 'a forced hosted tool', forcedClaude, 'tools'],
    ['messages', 'mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] }, 'mcp_servers'],
    ['responses', 'a forced hosted tool', forced, 'tools'],
    ['responses', 'a forced custom tool', { tools: [custom], tool_choice: { type: 'custom', name: 'x' } }, 'tools'],
  ])('%s: %s on a translated route', async (name, _, more, param) => {
    const door = doorNamed(name);
    const reply = await post(door.path, door.ask(plainPin, more));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { type: 'invalid_request_error', param } } });
    expect(reply.json.error.code).toBeUndefined();
    expect(bench.plain.calls).toHaveLength(0);
  });

  it('messages: a thread, in the words from which the official tool runner recovers', async () => {
    const reply = await post(messages.path, messages.ask(plainPin, { thread: { id: 'x' } }));
    expect(reply).toMatchObject({
      status: 400,
      json: { error: { param: 'thread', details: { error_code: 'thread_unsupported_request' } } },
    });
  });

  it('messages: no max_tokens; a body that is too long, as request_too_large', async () => {
    const { max_tokens: _, ...rest } = messages.ask(plainPin) as { max_tokens: number };
    expect(await post(messages.path, rest)).toMatchObject({ status: 400, json: { error: { param: 'max_tokens' } } });
    const long = await post(messages.path, `{"x":"${'x'.repeat(33_554_432)}"}`);
    expect(long).toMatchObject({ status: 413, json: { type: 'error', error: { type: 'request_too_large' } } });
  });
});

it('messages: a method that is not allowed, in the envelope of the API', async () => {
  const reply = await bench.gateway.call('GET', messages.path);
  expect(reply).toMatchObject({
    status: 405,
    headers: { allow: expect.stringContaining('POST') },
    json: { type: 'error', error: { type: 'invalid_request_error', code: 'method_not_allowed' } },
  });
  expect(reply.json.request_id).toBe(reply.headers['x-request-id']);
});

describe('a native pass', () => {
  it.each(['messages', 'responses'])('%s: takes out only what Lodestone reads, and adds no stream', async (name) => {
    const door = doorNamed(name);
    const own = { fallback: { models: [] }, provider: { sort: 'price' }, session_id: 'x' };
    bench.native.enqueue(json({ error: { message: 'x' } }, { status: 500 }));
    const asked = door.ask(nativePins[name]!, { later_invention: [1, { a: null }] });
    await post(
      door.path,
      { ...asked, ...own },
      { headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b1' } },
    );
    const stored = name === 'responses' ? { store: false } : {};
    expect(bench.native.calls[0]!.json).toEqual({ ...asked, model: 'upstream-model', ...stored });
    const passed = name === 'messages' ? { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b1' } : {};
    expect(bench.native.calls[0]!.headers).toMatchObject(passed);
  });
});

describe('responses', () => {
  it('an answer that max_output_tokens cuts is incomplete, whole and streamed; it says store: false', async () => {
    bench.plain.enqueue(json(completion({ content: 'Hel', finishReason: 'length' })));
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, store: false };
    expect((await post(responses.path, responses.ask(plainPin))).json).toMatchObject(cut);
    bench.plain.enqueue(sse([chunk({ content: 'Hel' }), chunk({ finishReason: 'length' })]));
    const streamed = await bench.gateway.stream(responses.ask(plainPin), { path: responses.path });
    expect(streamed.frames.at(-1)!.json).toMatchObject({ type: 'response.incomplete', response: cut });
    expect(streamed.text).not.toContain('[DONE]');
  });

  it('flattens the functions of a namespace, and gives the call its namespace back', async () => {
    const tool = { type: 'function', name: 'look', parameters: { type: 'object' } };
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
    bench.plain.enqueue(
      json(completion({ content: null, message: { tool_calls: [call] }, finishReason: 'tool_calls' })),
    );
    const tools = [{ type: 'namespace', name: 'eyes', description: 'x', tools: [tool] }];
    const reply = await post(responses.path, responses.ask(plainPin, { tools }));
    expect(reply.status, reply.text).toBe(200);
    expect(bench.plain.calls[0]!.json).toMatchObject({ tools: [{ type: 'function', function: { name: 'look' } }] });
  });
});

it.each([
  ['/v1/chat/completions', responses.ask(plainPin), 'messages', '/v1/responses'],
  ['/v1/messages', { ...responses.ask(plainPin), max_tokens: 9 }, 'messages', '/v1/responses'],
  ['/v1/responses', messages.ask(plainPin), 'input', '/v1/messages'],
  ['/v1/embeddings', messages.ask(plainPin), 'input', '/v1/messages'],
  ['/v1/rerank', messages.ask(plainPin), 'documents', '/v1/messages'],
])('%s: a body of another API is told where it belongs', async (path, body, param, belongs) => {
  const reply = await post(path, body);
  expect(reply).toMatchObject({ status: 400, json: { error: { param, message: expect.stringContaining(belongs) } } });
});
