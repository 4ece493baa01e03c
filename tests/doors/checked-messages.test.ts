/** What a Messages request may hold: fields that are wrong are refused before a provider is asked, and nothing is dropped in silence. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { completion, json } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const path = '/v1/messages';
const plain = 'plain/acme/one/defra';
const claude = 'claude/acme/one/defra';
const answer = { id: 'm', type: 'message', role: 'assistant', model: 'upstream-model', stop_reason: 'end_turn' };
const ask = (model: string, more: Json = {}): Json => ({
  model,
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const post = (body: unknown, headers = {}) => bench.gateway.call('POST', path, body, { headers });
const sent = () => [...bench.plain.calls, ...bench.native.calls];

describe('service_tier', () => {
  it.each([plain, claude])('%s: a tier without a price is refused', async (model) => {
    const reply = await post(ask(model, { service_tier: 'priority' }));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'service_tier' } } });
    expect(reply.json.error).not.toHaveProperty('code');
    expect(sent()).toHaveLength(0);
  });

  it.each(['auto', 'default', 'standard', 'standard_only'])('"%s" needs no price', async (service_tier) => {
    bench.native.enqueue(json({ ...answer, content: [], usage: { input_tokens: 1, output_tokens: 1 } }));
    bench.plain.enqueue(json(completion()));
    for (const model of [plain, claude]) {
      const reply = await post(ask(model, { service_tier }));
      expect(reply.status, reply.text).toBe(200);
    }
    expect(bench.native.calls[0]!.json).toMatchObject({ service_tier });
  });

  it('a tier with a price is sent on a translated route', async () => {
    bench.plain.enqueue(json(completion()));
    const reply = await post(ask('plain/acme/tiered/defra', { service_tier: 'flex' }));
    expect(reply.status, reply.text).toBe(200);
    expect(bench.plain.calls[0]!.json).toMatchObject({ service_tier: 'flex' });
  });

  it.each([plain, claude])('%s: another type than text is refused', async (model) => {
    const reply = await post(ask(model, { service_tier: 5 }));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'service_tier' } } });
    expect(sent()).toHaveLength(0);
  });
});

const tool = { name: 'look', input_schema: { type: 'object' } };
const said = (content: unknown): Json => ({ messages: [{ role: 'user', content }] });

describe('a wrong element is refused on every route', () => {
  const image = (source: unknown): Json => said([{ type: 'image', source }]);
  it.each<[more: Json, param: string, message: string]>([
    [{ tools: [1] }, 'tools', 'entry 0 is 1'],
    [{ tools: [{}] }, 'tools', 'tools[0] has no `name`'],
    [{ tools: [tool, { name: 'x' }] }, 'tools', 'tools[1] has no `input_schema`'],
    [{ tools: [{ ...tool, description: 5 }] }, 'tools', 'description'],
    [{ tools: [{ ...tool, type: 5 }] }, 'tools', 'type'],
    [{ tools: [tool], tool_choice: {} }, 'tool_choice', 'no `type`'],
    [{ tools: [tool], tool_choice: { type: 'tool' } }, 'tool_choice', 'no `name`'],
    [{ metadata: { user_id: 5 } }, 'metadata.user_id', 'is 5'],
    [{ output_config: { effort: 5 } }, 'output_config.effort', 'is 5'],
    [{ output_config: { format: 'x' } }, 'output_config.format', 'is "x"'],
    [{ stop_sequences: [1] }, 'stop_sequences', 'entry 0 is 1'],
    [{ system: [1] }, 'system', 'block 0'],
    [{ system: [{ text: 'x' }] }, 'system', '`type`'],
    [{ system: [{ type: 'text', text: 5 }] }, 'system', '`text` is 5'],
    [said([]), 'messages', 'messages[0] has no block in its `content`, but needs at least one'],
    [said([{ type: 'text', text: 5 }]), 'messages', '`text` is 5'],
    [image({ type: 'base64' }), 'messages', '`media_type`'],
    [image({ type: 'base64', media_type: 'image/png' }), 'messages', '`data`'],
    [image({ type: 'url' }), 'messages', '`url`'],
    [image('x'), 'messages', '`source`'],
    [said([{ type: 'document', source: { type: 'text' } }]), 'messages', '`data`'],
    [said([{ type: 'tool_result', tool_use_id: 't', content: [5] }]), 'messages', 'block 0'],
    [said([{ type: 'tool_result', tool_use_id: 't', content: 5 }]), 'messages', 'is 5'],
    [said([{ type: 'tool_use', id: 't', name: 'look', input: 5 }]), 'messages', '`input` is 5'],
  ])('%j', async (more, param, message) => {
    for (const model of [plain, claude]) {
      const reply = await post(ask(model, more));
      expect(reply, reply.text).toMatchObject({
        status: 400,
        json: { error: { type: 'invalid_request_error', param } },
      });
      expect(reply.json.error.message).toContain(message);
    }
    expect(sent()).toHaveLength(0);
  });
});

describe('what a translation cannot express', () => {
  it.each<[more: Json, param: string, message: string]>([
    [{ tools: [tool], tool_choice: { type: 'zzz' } }, 'tool_choice', 'the type "zzz"'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice', 'no tool'],
    [{ tool_choice: { type: 'tool', name: 'x' } }, 'tool_choice', 'no tool'],
    [{ tools: [{ ...tool, allowed_callers: ['code_execution_20260120'] }] }, 'tools', '`allowed_callers`'],
    [{ system: [{ type: 'foo' }] }, 'system', 'does not support a `foo` block'],
    [said([{ type: 'foo' }]), 'messages', 'does not support a `foo` block'],
    [{ tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools', 'does not support the tool "bash"'],
    [{ output_config: { format: { type: 'foo' } } }, 'output_config.format', 'cannot apply'],
    [{ output_config: { foo: 1 } }, 'output_config.foo', 'cannot apply'],
  ])('%j is refused', async (more, param, message) => {
    const reply = await post(ask(plain, more));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param } } });
    expect(reply.json.error).not.toHaveProperty('code');
    expect(reply.json.error.message).toContain(message);
    expect(sent()).toHaveLength(0);
  });

  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
  it.each<[more: Json, omitted: string[]]>([
    [{ metadata: { foo: 1 } }, ['metadata']],
    [{ tool_choice: { type: 'auto' } }, ['tool_choice']],
    [{ tool_choice: { type: 'none' } }, ['tool_choice']],
    [said([{ ...document, title: 'T' }]), ['messages.title']],
    [said([{ ...document, context: 'C' }]), ['messages.context']],
    [
      {
        tools: [
          { ...tool, defer_loading: true },
          { ...tool, defer_loading: true },
        ],
      },
      ['tools.defer_loading'],
    ],
    [{ tools: [{ ...tool, input_examples: [{}] }] }, ['tools.input_examples']],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, ['thinking', 'thinking.display']],
  ])('%j is left out and named; strictly, it is refused', async (more, omitted) => {
    bench.plain.enqueue(json(completion()));
    const reply = await post(ask(plain, more));
    expect(reply.json.router_metadata?.omitted, reply.text).toEqual(omitted);
    const strict = await post(ask(plain, more), { 'x-lodestone-strict': 'true' });
    expect(strict, strict.text).toMatchObject({ status: 400, json: { error: { param: omitted[0] } } });
    expect(strict.json.error).not.toHaveProperty('code');
  });

  it('members that ask for nothing are no reason to name or refuse anything', async () => {
    bench.plain.enqueue(json(completion()));
    const tools = [{ ...tool, defer_loading: false, input_examples: [], allowed_callers: ['direct'] }];
    const reply = await post(ask(plain, { tools, metadata: {} }), { 'x-lodestone-strict': 'true' });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata).not.toHaveProperty('omitted');
  });
});
