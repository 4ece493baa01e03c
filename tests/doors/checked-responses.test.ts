/** What a Responses request may hold: items and fields that are wrong are refused before a provider is asked, and nothing is dropped in silence. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { completion, json } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const path = '/v1/responses';
const plain = 'plain/acme/one/defra';
const respond = 'respond/acme/one/defra';
const ask = (model: string, more: Json = {}): Json => ({ model, input: 'Hi', ...more });
const post = (body: unknown, headers = {}) => bench.gateway.call('POST', path, body, { headers });

async function expectRefusal(body: Json, param: string, message: string): Promise<void> {
  const reply = await post(body);
  expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { type: 'invalid_request_error', param } } });
  expect(reply.json.error.message).toContain(message);
  expect([...bench.plain.calls, ...bench.native.calls]).toHaveLength(0);
}

const user = { role: 'user', content: 'Hi' };
const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' };

describe('items', () => {
  const wrong: [item: unknown, message: string][] = [
    [{ id: 'x' }, 'stores no responses'],
    [{ id: 'x', type: null }, 'stores no responses'],
    [{ id: 'x', type: 'item_reference' }, 'stores no responses'],
    [{}, 'neither a `type` nor a `role`'],
    [5, 'must be an object'],
    [{ type: 5 }, 'input[1].type is 5'],
    [{ role: 'nope', content: 'x' }, 'input[1].role is "nope"'],
    [{ type: 'message', content: 'x' }, 'no `role`'],
    [{ role: 'user' }, 'no `content`'],
    [{ role: 'user', content: 5 }, 'input[1].content is 5'],
    [{ role: 'user', content: [5] }, 'input[1].content[0] is 5'],
    [{ role: 'user', content: [{ text: 'x' }] }, 'input[1].content[0] has no `type`'],
    [{ role: 'user', content: [{ type: 'input_text', text: 5 }] }, 'input[1].content[0].text is 5'],
    [{ role: 'user', content: [{ type: 'input_image' }] }, 'no `image_url`'],
    [{ role: 'user', content: [{ type: 'input_file', filename: 'x.pdf' }] }, 'no `file_data`'],
    [{ type: 'function_call_output' }, 'no `call_id`'],
    [{ type: 'function_call_output', call_id: 'c' }, 'no `output`'],
    [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text' }] }, 'no `text`'],
    [{ type: 'function_call', call_id: 'c' }, 'no `name`'],
    [{ ...call, arguments: {} }, 'input[1].arguments is an object'],
    [{ ...call, call_id: undefined }, 'no `call_id`'],
  ];
  it.each(wrong)('%j is refused on every route', async (item, message) => {
    for (const model of [plain, respond]) {
      await expectRefusal(ask(model, { input: [user, item] }), 'input', message);
      await expectRefusal(ask(model, { input: [user, item] }), 'input', 'input[1]');
    }
  });

  it('what is right is served, and an unknown item is left to a provider that speaks the API', async () => {
    const items = [
      user,
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'x' }] },
      call,
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: '' }] },
      user,
    ];
    bench.plain.enqueue(json(completion()));
    const reply = await post(ask(plain, { input: items }));
    expect(reply.status, reply.text).toBe(200);
    bench.native.enqueue(json({ error: { message: 'no' } }, { status: 400 }));
    await post(ask(respond, { input: [...items, { type: 'a_later_item', id: 'x' }] }));
    expect(bench.native.calls).toHaveLength(1);
  });
});

const look = { type: 'function', name: 'look', parameters: { type: 'object' } };

describe('fields', () => {
  it.each<[more: Json, param: string, message: string]>([
    [{ tools: [1] }, 'tools', 'entry 0 is 1'],
    [{ tools: [{}] }, 'tools', 'tools[0] has no `type`'],
    [{ tools: [look, { type: 'function' }] }, 'tools', 'tools[1] has no `name`'],
    [{ tools: [{ ...look, parameters: 'x' }] }, 'tools', '`parameters`'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] }, 'tools', 'tools[0].tools[0]'],
    [{ tool_choice: 5 }, 'tool_choice', 'is 5'],
    [{ tools: [look], tool_choice: {} }, 'tool_choice', '`type`'],
    [{ tools: [look], tool_choice: { type: 'function' } }, 'tool_choice', '`name`'],
    [{ reasoning: { effort: 5 } }, 'reasoning.effort', 'is 5'],
    [{ text: { format: 'x' } }, 'text.format', 'is "x"'],
    [{ text: { format: {} } }, 'text.format', '`type`'],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format', '`schema`'],
    [{ text: { verbosity: 5 } }, 'text.verbosity', 'is 5'],
    [{ include: [5] }, 'include', 'entry 0 is 5'],
    [{ max_tool_calls: 'x' }, 'max_tool_calls', 'is "x"'],
    [{ service_tier: 5 }, 'service_tier', 'is 5'],
  ])('%j is refused on every route', async (more, param, message) => {
    for (const model of [plain, respond]) await expectRefusal(ask(model, more), param, message);
  });

  it.each<[more: Json, param: string, message: string]>([
    [{ tools: [look], tool_choice: 'zzz' }, 'tool_choice', 'the tool choice "zzz"'],
    [{ tool_choice: 'required' }, 'tool_choice', 'no tool'],
    [{ tool_choice: { type: 'function', name: 'x' } }, 'tool_choice', 'no tool'],
    [{ tools: [{ ...look, foo: 1 }] }, 'tools', '`foo`'],
    [{ include: ['foo'] }, 'include', 'include'],
    [{ text: { foo: 1 } }, 'text.foo', 'cannot apply'],
  ])('%j is refused where it is translated', async (more, param, message) => {
    await expectRefusal(ask(plain, more), param, message);
  });

  it.each<[more: Json, omitted: string[]]>([
    [{ reasoning: { effort: 'high', summary: 'auto' } }, ['reasoning.summary']],
    [{ max_tool_calls: 3 }, ['max_tool_calls']],
    [{ include: ['web_search_call.action.sources'] }, ['include.web_search_call.action.sources']],
    [{ tools: [{ ...look, defer_loading: true }] }, ['tools.defer_loading']],
    [{ tools: [look, { type: 'web_search' }] }, ['tools.web_search']],
    [{ metadata: { a: 'b' }, safety_identifier: 's', prompt_cache_key: 'k', text: { verbosity: 'low' } }, []],
  ])('%j: what is left out is named and not repeated', async (more, named) => {
    bench.plain.enqueue(json(completion()));
    const reply = await post(ask(plain, more));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata.omitted).toEqual(expect.arrayContaining(named));
    expect(reply.json).toMatchObject({ max_tool_calls: null, metadata: {}, safety_identifier: null });
    expect(reply.json).toMatchObject({ prompt_cache_key: null, text: { format: { type: 'text' } } });
    expect(reply.json.text).not.toHaveProperty('verbosity');
    const { effort = null } = (more.reasoning ?? {}) as Json;
    expect(reply.json.reasoning).toEqual({ effort, summary: null });
    expect(reply.json.tools.map(({ type }: Json) => type)).not.toContain('web_search');
    const strict = await post(ask(plain, more), { 'x-lodestone-strict': 'true' });
    expect(strict.status).toBe(400);
  });
});
