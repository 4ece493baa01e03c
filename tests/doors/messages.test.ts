import { describe, expect, it } from 'vitest';
import { chunk, completion, json, sse, streamOf } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const path = '/v1/messages';
const ask = (more: object = {}) => ({
  model: 'plain/acme/one/defra',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Say hello.' }],
  ...more,
});
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
    { type: 'text', text: 'Grüße 😀', citations: [{ type: 'x', n: 1.5 }] },
    { type: 'a_later_block', data: 1 },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 4, service_tier: 'standard' },
};

describe('a native pass', () => {
  it('sends the body as it is but for the model, and gives the answer back but for four members', async () => {
    const { gateway, native } = bench;
    native.enqueue(json(JSON.stringify(message, null, 1)));
    const body = ask({
      model: 'claude/acme/one/defra',
      fallback: { models: [] },
      session_id: 's',
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [{ type: 'web_search_20260209', name: 'web_search' }],
      a_later_field: { x: 1 },
    });
    const reply = await gateway.call('POST', path, body, {
      headers: { 'anthropic-beta': 'one-2026-01-01', 'anthropic-version': '2024-01-01' },
    });
    expect(reply.status, reply.text).toBe(200);
    const [call] = native.calls;
    const { fallback: _, session_id: __, ...sent } = body as Record<string, unknown>;
    expect(call!.json).toEqual({ ...sent, model: 'upstream-model' });
    expect(call!.path).toBe('/v1/messages');
    expect(call!.headers).toMatchObject({ 'anthropic-beta': 'one-2026-01-01', 'anthropic-version': '2024-01-01' });
    const { cost, cost_details, ...usage } = reply.json.usage;
    const { router_metadata, ...rest } = reply.json;
    expect({ ...rest, usage }).toEqual({ ...message, model: 'claude/acme/one/defra' });
    expect(cost).toBeCloseTo((10 * 3 + 5 * 0.3 + 4 * 15) / 1e6, 12);
    expect(cost_details).toMatchObject({ input: '0.00003' });
    expect(router_metadata.generation_id).toBe(reply.headers['x-generation-id']);
    // Every other byte is the provider's.
    expect(reply.text).toContain('"citations": [\n    {\n     "type": "x",\n     "n": 1.5\n    }\n   ]');
  });

  it('passes every event of a stream, and adds the bill and the receipt', async () => {
    const { gateway, native } = bench;
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grü' } },
      { type: 'a_later_event', x: 1 },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ße' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ];
    native.enqueue(
      sse(
        events.map((each) => ({ ...each })),
        { noDone: true },
      ),
    );
    const reply = await gateway.stream(ask({ model: 'claude/acme/one/defra' }) as never, { path });
    expect(reply.status, reply.text).toBe(200);
    const got = reply.frames.map(({ json: data }) => data as Record<string, never>);
    expect(got.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
    expect(got[0]).toMatchObject({
      message: { model: 'claude/acme/one/defra', router_metadata: { provider: 'claude' } },
    });
    expect(got[7]).toMatchObject({ usage: { output_tokens: 4, cost: expect.any(Number) } });
    expect(got[8]).toMatchObject({ router_metadata: { stream_end: 'complete' } });
  });
});

describe('-1 as top_p and top_k, which a client sends where they are not set', () => {
  const unset = { top_p: -1, top_k: -1 };
  const send = (model: string, more: object = {}, headers = {}) => {
    bench.native.enqueue(json(message));
    bench.plain.enqueue(json(completion()));
    return bench.gateway.call('POST', path, ask({ model, ...unset, ...more }), { headers });
  };

  it.each(['claude/acme/one/defra', 'plain/acme/one/defra'])('is left out and named: %s', async (model) => {
    const reply = await send(model, { messages: [{ role: 'user', content: 'Grüße "top_k":-1' }] });
    expect(reply.status, reply.text).toBe(200);
    const [call] = [...bench.native.calls, ...bench.plain.calls];
    expect(call!.json).toMatchObject({ messages: [{ role: 'user', content: 'Grüße "top_k":-1' }] });
    expect(call!.json).not.toHaveProperty('top_p');
    expect(call!.json).not.toHaveProperty('top_k');
    expect(reply.json.router_metadata.omitted).toEqual(['top_p', 'top_k']);
  });

  it.each(['claude/acme/one/defra', 'plain/acme/one/defra'])(
    'is refused where the request is strict: %s',
    async (model) => {
      const reply = await send(model, {}, { 'x-lodestone-strict': 'true' });
      expect([reply.status, reply.json.error.param]).toEqual([400, 'top_p']);
      expect([...bench.native.calls, ...bench.plain.calls]).toEqual([]);
    },
  );

  it('is the only one: another number out of range stays a 400, and only what is not set is left out', async () => {
    expect((await send('claude/acme/one/defra', { top_p: -0.5 })).json.error.param).toBe('top_p');
    expect((await send('claude/acme/one/defra', { top_k: -2 })).json.error.param).toBe('top_k');
    const reply = await send('claude/acme/one/defra', { top_p: 0.5 });
    expect(reply.json.router_metadata.omitted).toEqual(['top_k']);
    expect(bench.native.calls.at(-1)!.json).toMatchObject({ top_p: 0.5 });
  });
});

describe('a call that was cut off before its arguments', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '' } };

  it('is no call without arguments, whole', async () => {
    const message = { tool_calls: [call] };
    bench.plain.enqueue(json(completion({ content: null, message, finishReason: 'length' })));
    const reply = await bench.gateway.call('POST', path, ask());
    expect(reply.json).toMatchObject({
      content: [{ type: 'tool_use', id: 'call_1', name: 'clock', input: { arguments: '' } }],
      stop_reason: 'max_tokens',
    });
  });

  it('gets no input, streamed', async () => {
    bench.plain.enqueue(
      sse([chunk({ delta: { tool_calls: [{ index: 0, ...call }] } }), chunk({ finishReason: 'length' })]),
    );
    const { frames } = await bench.gateway.stream(ask() as never, { path });
    const events = frames.map(({ json: data }) => data as { type: string });
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[3]).toMatchObject({ delta: { stop_reason: 'max_tokens' } });
  });
});

describe('the details of a rejection', () => {
  const reject = (details: unknown, more: object = {}) =>
    json(
      { type: 'error', error: { type: 'invalid_request_error', message: 'No.', details }, ...more },
      { status: 400 },
    );
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'], limits: { messages: 3 } };
  const send = async (model: string, script: ReturnType<typeof json>, more = {}) => {
    bench.native.enqueue(script);
    bench.plain.enqueue(script);
    return bench.gateway.call('POST', path, ask({ model, ...more }));
  };

  it.each([false, true])('come back on a native pass (streamed: %s)', async (stream) => {
    const reply = await send('claude/acme/one/defra', reject(details), { stream });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', details },
      request_id: expect.any(String),
    });
  });

  it('come back where a stream begins with the error', async () => {
    const event = { type: 'error', error: { type: 'invalid_request_error', message: 'No.', details } };
    const reply = await send('claude/acme/one/defra', sse([event], { noDone: true }), { stream: true });
    expect(reply.status).toBe(400);
    expect(reply.json.error.details).toEqual(details);
  });

  it('never show a credential or an address', async () => {
    const told = { hint: 'Bearer abcdefghijkl at 10.1.2.3', org: { id: 'org-abcdef123456' } };
    const reply = await send('claude/acme/one/defra', reject(told));
    expect(reply.json.error.details).toEqual({ hint: '[credential] at [address]', org: { id: '[credential]' } });
    const named = await send('claude/acme/one/defra', reject({ 'sk-ant-abcdefgh1234': 1 }));
    expect(named.json.error).not.toHaveProperty('details');
  });

  it.each([
    ['a text', 'why'],
    ['a list', [1]],
    ['null', null],
    ['over 4 KiB', { text: 'x'.repeat(4_096) }],
  ])('are left out where they are %s', async (_, found) => {
    const reply = await send('claude/acme/one/defra', reject(found));
    expect(reply.status).toBe(400);
    expect(reply.json.error).not.toHaveProperty('details');
  });

  it('are left out on a translated pass', async () => {
    const reply = await send('plain/acme/one/defra', reject(details));
    expect(reply.status).toBe(400);
    expect(reply.json.error).not.toHaveProperty('details');
  });
});

describe('a translated pass', () => {
  it('answers whole', async () => {
    const { gateway, plain } = bench;
    plain.enqueue(json(completion({ content: 'Hello 😀' })));
    const reply = await gateway.call('POST', path, ask({ system: 'Be brief.', stop_sequences: ['END'] }));
    expect(reply.status, reply.text).toBe(200);
    expect(plain.calls[0]!.json).toEqual({
      model: 'upstream-model',
      stream: false,
      max_tokens: 64,
      stop: ['END'],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
      ],
    });
    expect(reply.json).toMatchObject({
      id: reply.headers['x-generation-id'],
      type: 'message',
      role: 'assistant',
      model: 'plain/acme/one/defra',
      content: [{ type: 'text', text: 'Hello 😀' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 3, cost: expect.any(Number) },
    });
    expect(reply.json.usage).not.toHaveProperty('cache_read_input_tokens');
  });

  it('answers in a stream', async () => {
    const { gateway, plain } = bench;
    plain.enqueue(sse(streamOf(['Hel', 'lo', ' 😀'])));
    const reply = await gateway.stream(ask() as never, { path });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.frames.map(({ json: data }) => (data as { type: string }).type)).toEqual([
      'message_start',
      'content_block_start',
      ...Array(3).fill('content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('makes up no reason for a stream that ends complete without one', async () => {
    const { gateway, plain } = bench;
    plain.enqueue(sse(streamOf(['Hel', 'lo'], { finishReason: null })));
    const reply = await gateway.stream(ask() as never, { path });
    const [delta, stop] = reply.frames.slice(-2).map(({ json }) => json as unknown);
    expect(delta).toMatchObject({ type: 'message_delta', delta: { stop_reason: null } });
    expect(stop).toMatchObject({ type: 'message_stop', router_metadata: { stream_end: 'complete' } });
  });
});
