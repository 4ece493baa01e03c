/** Tools that run at the provider: what is billed of them, and where they are left out. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { json, sse } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { doorCases, upstreamsOf } from './doors.js';

const bench = useDoors();
const pin = 'respond/acme/one/defra';
const ask = (more: object) => ({ model: pin, input: 'Hi', max_output_tokens: 100, ...more });

describe('searches of a response', () => {
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
  const call = (type: string) => ({ type: 'web_search_call', id: type, status: 'completed', action: { type } });
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'upstream-model',
    output: [call('search'), call('open_page'), call('find_in_page'), message],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  // One search at 10 USD, a token of 3 and one of 15 USD a million.
  const bill = { cost: 10.000018, cost_details: { input: '0.000003', output: '0.000015', tools: '10' } };
  const tools = [{ type: 'web_search' }];

  it('are billed, and the pages that it opened are not', async () => {
    bench.native.enqueue(json(response));
    const reply = await bench.gateway.call('POST', '/v1/responses', ask({ tools }));
    expect(reply.json.usage, reply.text).toMatchObject(bill);
  });

  it('are billed alike in a stream', async () => {
    const delta = { type: 'response.output_text.delta', delta: 'Hi', item_id: 'm', output_index: 3, content_index: 0 };
    const events = [{ type: 'response.created', response }, delta, { type: 'response.completed', response }];
    bench.native.enqueue(sse(events, { noDone: true }));
    const reply = await bench.gateway.stream(ask({ tools, stream: true }), { path: '/v1/responses' });
    expect(reply.frames.at(-1)!.json, reply.text).toMatchObject({ response: { usage: bill } });
  });
});

describe('a tool without a price on a route that speaks the API', () => {
  const doorNamed = (name: string) => doorCases.find((door) => door.name === name)!;
  const nativeOf = (name: string) => upstreamsOf[name]!.at(-1)!;
  const send = (name: string, more: Json, { strict = false } = {}) =>
    bench.gateway.call('POST', doorNamed(name).path, doorNamed(name).ask(nativeOf(name).pin, more), {
      ...(strict && { headers: { 'x-lodestone-strict': 'true' } }),
    });
  const sent = () => bench.native.calls[0]!.json as Json;
  const code = { type: 'code_execution_20250825', name: 'code_execution' };
  const search = { type: 'web_search_20260209', name: 'web_search' };
  const own = { name: 'look', input_schema: { type: 'object' } };
  const look = { type: 'function', name: 'look', parameters: { type: 'object', const: 'Grüße ],' } };
  const image = { type: 'image_generation' };
  const priced = { type: 'web_search' };
  const more = (limit: string) => ({ type: 'code_interpreter', container: { type: 'auto', memory_limit: limit } });

  it.each<[door: string, more: Json, left: string[], arrives: Json]>([
    ['messages', { tools: [own, code, search] }, ['tools.code_execution'], { tools: [own, search] }],
    ['messages', { tools: [code], tool_choice: { type: 'auto' } }, ['tools.code_execution'], { tools: [] }],
    ['messages', { tools: [own, code], tool_choice: { type: 'any' } }, ['tools.code_execution'], { tools: [own] }],
    ['responses', { tools: [image, look, priced] }, ['tools.image_generation'], { tools: [look, priced] }],
    ['responses', { tools: [image, image] }, ['tools.image_generation'], { tools: [] }],
    ['responses', { tools: [look, image], tool_choice: 'required' }, ['tools.image_generation'], { tools: [look] }],
    ['responses', { tools: [more('4g'), look] }, ['tools.code_interpreter_4g'], { tools: [look] }],
    [
      'responses',
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }, priced] },
      ['tools.hosted_shell'],
      { tools: [priced] },
    ],
  ])('%s: of %j, %j is left out and named', async (door, asked, left, arrives) => {
    bench.native.enqueue(nativeOf(door).whole('Hi'));
    const reply = await send(door, asked);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata.omitted).toEqual(left);
    const { tool_choice, ...whole } = doorNamed(door).ask('upstream-model', { ...asked, ...arrives });
    const choice = (arrives.tools as unknown[]).length > 0 && tool_choice !== undefined ? { tool_choice } : {};
    expect(sent()).toEqual({ ...whole, ...choice, ...(door === 'responses' && { store: false }) });
  });

  it('a stream names what was left out', async () => {
    bench.native.enqueue(nativeOf('responses').stream(['Hi']));
    const body = doorNamed('responses').ask(pin, { tools: [image], stream: true });
    const reply = await bench.gateway.stream(body, { path: '/v1/responses' });
    const omitted = ['tools.image_generation'];
    expect(reply.frames.at(-1)!.json).toMatchObject({ response: { router_metadata: { omitted } } });
    expect(sent()).toMatchObject({ tools: [] });
  });

  it('is left out of a request that is read in another thread', async () => {
    const text = 'Grüße '.repeat(200_000);
    bench.native.enqueue(nativeOf('responses').whole('Hi'));
    const reply = await send('responses', { input: text, tools: [look, image], instructions: text });
    expect(reply.json.router_metadata, reply.text.slice(0, 500)).toMatchObject({ omitted: ['tools.image_generation'] });
    expect(sent().tools).toEqual([look]);
    expect(sent()).toMatchObject({ model: 'upstream-model', input: text, instructions: text });
  });

  it.each<[door: string, what: string, more: Json]>([
    ['messages', 'the choice demands', { tools: [own, code], tool_choice: { type: 'tool', name: 'code_execution' } }],
    ['messages', 'must be called, as none else is there', { tools: [code], tool_choice: { type: 'any' } }],
    ['messages', 'calls another tool', { tools: [{ ...own, allowed_callers: [code.type] }, code] }],
    ['responses', 'the choice demands', { tools: [look, image], tool_choice: { type: 'image_generation' } }],
    ['responses', 'must be called, as none else is there', { tools: [image], tool_choice: 'required' }],
    [
      'responses',
      'the choice allows by its name',
      { tools: [look, image], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [image] } },
    ],
    [
      'responses',
      'the conversation has too',
      { tools: [look, image], input: [{ type: 'additional_tools', role: 'developer', tools: [image] }] },
    ],
  ])('%s: one that %s is refused', async (door, _, asked) => {
    const reply = await send(door, asked);
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'tools' } } });
    expect(reply.json.error.message).toContain('has no price for the tool');
    expect(bench.native.calls).toHaveLength(0);
  });

  it.each<[string, Json]>([
    ['messages', { tools: [own, code] }],
    ['responses', { tools: [look, image] }],
  ])('%s: a strict request is refused', async (door, asked) => {
    const reply = await send(door, asked, { strict: true });
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'tools' } } });
    expect(bench.native.calls).toHaveLength(0);
  });
});
