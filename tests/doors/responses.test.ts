import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { shortTimeouts } from '../support/gateway-files.js';
import { chunk, completion, json, sse, streamOf } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors({ timeouts: shortTimeouts });
const path = '/v1/responses';
const ask = (more: object = {}): Json => ({ model: 'plain/acme/one/defra', input: 'Say hello.', ...more });
const typesOf = (frames: { json: unknown }[]) => frames.map(({ json: data }) => (data as { type: string }).type);

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'upstream-model',
  output: [
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'abc' },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Grüße 😀', annotations: [] }],
    },
    { id: 'x', type: 'a_later_item' },
  ],
  usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 4, total_tokens: 14 },
};

describe('a call that was cut off before its arguments', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '' } };
  const cut = { type: 'function_call', call_id: 'call_1', name: 'clock', arguments: '', status: 'incomplete' };

  it('has none, whole', async () => {
    const message = { tool_calls: [call] };
    bench.plain.enqueue(json(completion({ content: null, message, finishReason: 'length' })));
    const reply = await bench.gateway.call('POST', path, ask());
    expect(reply.json).toMatchObject({ status: 'incomplete', output: [cut] });
  });

  it('has none, streamed', async () => {
    bench.plain.enqueue(
      sse([chunk({ delta: { tool_calls: [{ index: 0, ...call }] } }), chunk({ finishReason: 'length' })]),
    );
    const { frames } = await bench.gateway.stream(ask(), { path });
    expect(typesOf(frames)).not.toContain('response.function_call_arguments.delta');
    const types = ['response.function_call_arguments.done', 'response.output_item.done', 'response.incomplete'];
    expect(typesOf(frames).slice(-3)).toEqual(types);
    const [done, itemDone, last] = frames.slice(-3).map(({ json: data }) => data);
    expect(done).toMatchObject({ arguments: '' });
    expect(itemDone).toMatchObject({ item: cut });
    expect(last).toMatchObject({ response: { output: [cut] } });
  });
});

describe('a native pass', () => {
  it('sends the body as it is but for model and store, and gives the answer back but for four members', async () => {
    const { gateway, native } = bench;
    native.enqueue(json(JSON.stringify(response, null, 1)));
    const body = ask({ model: 'respond/acme/one/defra', include: ['reasoning.encrypted_content'], a_later_field: 1 });
    const reply = await gateway.call('POST', path, body);
    expect(reply.status, reply.text).toBe(200);
    expect(native.calls[0]).toMatchObject({ path: '/v1/responses' });
    expect(native.calls[0]!.json).toEqual({ ...body, model: 'upstream-model', store: false });
    const { cost, cost_details: _, ...usage } = reply.json.usage;
    const { router_metadata, ...rest } = reply.json;
    expect({ ...rest, usage }).toEqual({ ...response, model: 'respond/acme/one/defra' });
    expect(cost).toBeCloseTo((6 * 3 + 4 * 0.3 + 4 * 15) / 1e6, 12);
    expect(router_metadata.generation_id).toBe(reply.headers['x-generation-id']);
  });

  const begin = { ...response, status: 'in_progress', output: [], usage: null };
  const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  const events = [
    { type: 'response.created', sequence_number: 0, response: begin },
    { type: 'response.in_progress', sequence_number: 1, response: begin },
    { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item },
    { type: 'response.content_part.added', sequence_number: 3, ...place, part },
    { type: 'response.output_text.delta', sequence_number: 4, ...place, delta: 'Grü' },
    { type: 'response.a_later_event', sequence_number: 5 },
    { type: 'response.output_text.delta', sequence_number: 6, ...place, delta: 'ße' },
  ];

  it('passes every event of a stream, and adds the bill and the receipt', async () => {
    const { gateway, native } = bench;
    const last = { type: 'response.completed', sequence_number: 7, response };
    native.enqueue(sse([...events, last], { noDone: true }));
    const reply = await gateway.stream(ask({ model: 'respond/acme/one/defra' }), { path });
    expect(reply.status, reply.text).toBe(200);
    expect(typesOf(reply.frames)).toEqual([...events, last].map(({ type }) => type));
    expect(reply.frames[0]!.json).toMatchObject({ response: { model: 'respond/acme/one/defra', router_metadata: {} } });
    expect(reply.frames.at(-1)!.json).toMatchObject({
      response: { usage: { cost: expect.any(Number) }, router_metadata: { stream_end: 'complete' } },
    });
  });

  it('closes what is open where the provider is cut', async () => {
    const { gateway, native } = bench;
    native.enqueue(sse(events, { noDone: true, cutAfter: events.length }));
    const { frames } = await gateway.stream(ask({ model: 'respond/acme/one/defra' }), { path });
    expect(typesOf(frames).slice(events.length)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.incomplete',
    ]);
    const numbers = frames.map(({ json: data }) => (data as { sequence_number: number }).sequence_number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    expect(frames.at(-1)!.json).toMatchObject({
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'cut' },
        output: [{ content: [{ type: 'output_text', text: 'Grüße' }] }],
        router_metadata: { stream_end: 'cut' },
      },
    });
  });
});

describe('the numbers of the events of a native stream', () => {
  const begin = { ...response, status: 'in_progress', output: [], usage: null };
  const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', sequence_number: 0, response: begin },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
    {
      type: 'response.content_part.added',
      ...{ sequence_number: 2, ...place, part: { type: 'output_text', text: '', annotations: [] } },
    },
    { type: 'response.output_text.delta', sequence_number: 3, ...place, delta: 'Grü' },
  ];
  const failure = { code: 'server_error', message: 'It broke.' };

  it.each([
    ['response.failed', { response: { ...begin, status: 'failed', error: failure } }, 'response.incomplete'],
    ['error', failure, 'response.incomplete'],
    // Its usage cannot be billed.
    ['response.completed', { response: { ...response, usage: { input_tokens: -1, output_tokens: 1 } } }, 'error'],
  ])('have no gap where %s is replaced', async (type, more, ends) => {
    bench.native.enqueue(sse([...events, { type, sequence_number: 4, ...more }], { noDone: true }));
    const { frames } = await bench.gateway.stream(ask({ model: 'respond/acme/one/defra' }), { path });
    const got = frames.map(({ json: data }) => data as { type: string; sequence_number: number });
    expect(got.at(-1)!.type).toBe(ends);
    expect(got.map(({ sequence_number }) => sequence_number)).toEqual(got.map((_, at) => at));
  });
});

describe('a translated pass', () => {
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'Wie spät?' }] },
    { type: 'function_call', call_id: 'c1', name: 'clock', arguments: '{"tz":"CET"}' },
    { type: 'function_call_output', call_id: 'c1', output: '12:00' },
  ];
  const tools = [
    { type: 'web_search' },
    { type: 'namespace', name: 'time', description: '', tools: [{ type: 'function', name: 'clock', parameters: {} }] },
  ];

  it('answers whole, leaves optional tools out and says so', async () => {
    const { gateway, plain } = bench;
    const tool_calls = [{ id: 'c2', type: 'function', function: { name: 'clock', arguments: '{}' } }];
    plain.enqueue(json(completion({ content: null, finishReason: 'tool_calls', message: { tool_calls } })));
    const body = ask({
      input,
      tools,
      instructions: 'Be brief.',
      max_output_tokens: 99,
      prompt_cache_key: 'k',
      store: false,
    });
    const reply = await gateway.call('POST', path, body);
    expect(reply.status, reply.text).toBe(200);
    expect(plain.calls[0]!.json).toEqual({
      model: 'upstream-model',
      stream: false,
      max_tokens: 99,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Wie spät?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'clock', arguments: '{"tz":"CET"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '12:00' },
      ],
      tools: [{ type: 'function', function: { name: 'clock', parameters: {} } }],
    });
    expect(reply.json).toMatchObject({
      id: reply.headers['x-generation-id'],
      object: 'response',
      status: 'completed',
      store: false,
      output: [{ type: 'function_call', call_id: 'c2', name: 'clock', namespace: 'time', arguments: '{}' }],
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12, cost: expect.any(Number) },
      router_metadata: { omitted: ['tools.web_search', 'prompt_cache_key'] },
    });
  });

  it('repeats the functions of the request with every member that the API has', async () => {
    const parameters = { type: 'object' };
    const tools = [
      { type: 'function', name: 'clock' },
      { type: 'function', name: 'date', description: 'The date.', parameters, strict: true },
    ];
    const reply = await bench.gateway.call('POST', path, ask({ tools }));
    expect(reply.status, reply.text).toBe(200);
    // Without `strict` the provider was not asked to hold to the parameters.
    expect(reply.json.tools).toEqual([{ ...tools[0], description: null, parameters: null, strict: false }, tools[1]]);
  });

  it('answers in a stream, with reasoning, text and a call', async () => {
    const { gateway, plain } = bench;
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'clock', arguments: '' } };
    plain.enqueue(
      sse([
        chunk({ delta: { role: 'assistant', reasoning_content: 'hm' } }),
        chunk({ content: 'Grü' }),
        chunk({ content: 'ße' }),
        chunk({ delta: { tool_calls: [call] } }),
        chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] } }),
        chunk({ delta: {}, finishReason: 'tool_calls' }),
      ]),
    );
    const { frames, text } = await gateway.stream(ask({ tools: [{ type: 'function', name: 'clock' }] }), { path });
    expect(text).not.toContain('[DONE]');
    const numbers = frames.map(({ json: data }) => (data as { sequence_number: number }).sequence_number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    expect(typesOf(frames).at(-1)).toBe('response.completed');
    expect(frames.at(-1)!.json).toMatchObject({
      response: {
        output: [
          { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'Grüße' }] },
          { type: 'function_call', call_id: 'c1', name: 'clock', arguments: '{"a":1}' },
        ],
      },
    });
  });

  it.each(['stalled', 'cut'])('ends as incomplete where it is %s', async (reason) => {
    const { gateway, plain } = bench;
    const end = reason === 'cut' ? { cutAfter: 2 } : { hangAfter: 2 };
    plain.enqueue(sse(streamOf(['Hel', 'lo']), end));
    const { frames } = await gateway.stream(ask(), { path });
    expect(frames.at(-1)!.json).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason }, router_metadata: { stream_end: reason } },
    });
  });
});

describe('what needs a memory is refused', () => {
  it.each([
    ['store', { store: true }],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['background', { background: true }],
    ['input', { input: [{ type: 'item_reference', id: 'x' }] }],
  ])('%s', async (param, more) => {
    const reply = await bench.gateway.call('POST', path, ask(more));
    expect(reply).toMatchObject({ status: 400, json: { error: { param, code: 'invalid_request_error' } } });
    expect(bench.plain.calls).toHaveLength(0);
  });

  it('a body of another API, which names what is missing and where it belongs', async () => {
    expect(await bench.gateway.call('POST', path, ask({ input: undefined, messages: [] }))).toMatchObject({
      status: 400,
      json: { error: { param: 'input', message: expect.stringContaining('/v1/chat/completions') } },
    });
  });

  it('a stored response does not exist', async () => {
    const reply = await bench.gateway.call('GET', `${path}/resp_1`);
    expect(reply).toMatchObject({ status: 404, json: { error: { message: expect.stringContaining('stores no') } } });
  });
});
