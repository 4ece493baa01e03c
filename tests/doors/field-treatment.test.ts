/**
 * What reaches a provider of the fields that cost, store or decide something: each is refused before the provider is asked, or arrives as
 * it was sent. docs/guide/fields.md has the whole table.
 */
import { describe, expect, it } from 'vitest';
import { doorNamed as servedDoor } from '../../src/doors/registry.js';
import type { Json, Reply } from '../support/client.js';
import { useDoors } from './door-gateway.js';
import { doorCases, upstreamsOf } from './doors.js';

const bench = useDoors({ providers: { spare: { stored_objects: true } } });
const asked = () => [...bench.native.calls, ...bench.plain.calls];
const doorNamed = (name: string) => doorCases.find((door) => door.name === name)!;
const nativeOf = (name: string) => upstreamsOf[name]!.at(-1)!;
const send = (name: string, more: Json, model = nativeOf(name).pin): Promise<Reply> =>
  bench.gateway.call('POST', doorNamed(name).path, doorNamed(name).ask(model, more));

/** A value that asks for something, of each field that is refused. */
const refusedValues: Readonly<Record<string, unknown>> = {
  fallbacks: [{ model: 'claude-haiku' }],
  models: ['x/y'],
  plugins: [{ id: 'web' }],
  preset: '@preset/comedian',
  inference_geo: 'us',
  data_sources: [{ type: 'azure_search', parameters: {} }],
  search_parameters: { mode: 'on' },
  enable_search: true,
  deferred: true,
  store: true,
  previous_response_id: 'resp_1',
  conversation: 'conv_1',
  background: true,
  user_profile_id: 'up_1',
  workspace_id: 'wrkspc_1',
};
/** Values of the same fields that ask for nothing. */
const harmless: Readonly<Record<string, unknown>> = {
  fallbacks: [],
  models: [],
  plugins: [],
  data_sources: [],
  search_parameters: { mode: 'off' },
  enable_search: false,
  deferred: false,
};

const chatting = ['chat', 'messages', 'responses'] as const;
const rows = chatting.flatMap((door) =>
  [...servedDoor(door)!.fields.fields].map(([name, { does }]) => ({ door, name, does, value: refusedValues[name] })),
);

describe('a field that the table refuses', () => {
  it.each(rows.filter(({ does }) => does === 'refused'))('$door: $name', async ({ door, name, value }) => {
    expect(value, `a value of ${name}`).toBeDefined();
    const reply = await send(door, { [name]: value });
    expect(reply, reply.text).toMatchObject({
      status: 400,
      json: { error: { param: name, type: 'invalid_request_error' } },
    });
    expect(reply.json.error.message).toContain(`\`${name}\``);
    expect(asked()).toHaveLength(0);
  });

  it.each(chatting)('%s: goes on where its value asks for nothing', async (door) => {
    const { server, whole } = nativeOf(door);
    bench[server].enqueue(whole('Hi'));
    const reply = await send(door, harmless);
    expect(reply.status, reply.text).toBe(200);
    expect(asked()[0]!.json).toMatchObject(harmless);
  });
});

/** Values of fields that are passed, where any object will not do. */
const passedValues: Readonly<Record<string, unknown>> = {
  max_tokens: 50,
  max_completion_tokens: 50,
  max_output_tokens: 50,
  max_tool_calls: 2,
  n: 2,
  top_logprobs: 1,
  temperature: 0.5,
  top_p: 0.5,
  top_k: 5,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  stop: 'x',
  logprobs: true,
  logit_bias: { '1': 1 },
  response_format: { type: 'json_object' },
  text: { verbosity: 'low' },
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'low', task_budget: { total: 9 } },
  metadata: { user_id: 'u' },
  tool_choice: { type: 'auto' },
  system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  stop_sequences: ['x'],
  include: ['reasoning.encrypted_content'],
  mcp_servers: [{ type: 'url', url: 'https://mcp.test', name: 'm', authorization_token: 't' }],
  prompt: { id: 'pmpt_1', variables: { city: 'Bern' } },
  parallel_tool_calls: false,
  stream: false,
};
const texts = ['user', 'safety_identifier', 'prompt_cache_key', 'truncation', 'instructions', 'prompt_cache_retention'];

describe('a field that the table passes', () => {
  const passing = rows.filter(({ does, name }) => does === 'passed' && !(name in refusedValues));
  it.each(passing)('$door: $name arrives as it was sent', async ({ door, name }) => {
    const { server, whole } = nativeOf(door);
    bench[server].enqueue(whole('Hi'));
    const value = passedValues[name] ?? (texts.includes(name) ? 'some text' : { some: ['value', 1] });
    const reply = await send(door, { [name]: value });
    expect(reply.status, reply.text).toBe(200);
    expect(asked()[0]!.json).toMatchObject({ [name]: value });
  });
});

const image = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
const user = (content: unknown): Json => ({ messages: [{ role: 'user', content }] });
const input = (content: unknown): Json => ({ input: [{ role: 'user', content }] });
const search = { type: 'file_search', vector_store_ids: ['vs_1'] };

/** Each names something that the provider keeps for the operator's account. */
const stored: readonly (readonly [door: string, param: string, more: Json])[] = [
  ['chat', 'messages', user([{ type: 'file', file: { file_id: 'file-1' } }])],
  ['chat', 'messages', user([{ type: 'text', text: 'Hi', file: { file_id: 'file-1' } }])],
  [
    'chat',
    'messages',
    {
      messages: [
        { role: 'assistant', audio: { id: 'audio_1' } },
        { role: 'user', content: 'Hi' },
      ],
    },
  ],
  ['chat', 'audio', { audio: { format: 'wav', voice: { id: 'voice_1' } } }],
  ['chat', 'extra_body', { extra_body: { google: { cachedContent: 'cachedContents/1' } } }],
  ['messages', 'container', { container: 'container_1' }],
  ['messages', 'container', { container: { id: 'container_1' } }],
  ['messages', 'container', { container: { Id: 'container_1' } }],
  ['messages', 'container', { container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } }],
  ['messages', 'messages', user([image])],
  ['messages', 'messages', user([{ type: 'image', source: { type: 'url', url: 'u', file_id: 'file_1' } }])],
  ['messages', 'messages', user([{ type: 'text', text: 'Hi', source: { type: 'url', url: 'u', content: [image] } }])],
  ['messages', 'messages', user([{ type: 'tool_result', tool_use_id: 't', content: [image] }])],
  ['messages', 'messages', user([{ type: 'container_upload', file_id: 'file_1' }])],
  ['responses', 'input', input([{ type: 'input_file', file_id: 'file-1' }])],
  ['responses', 'input', input([{ type: 'input_image', image_url: 'data:x', file_id: 'file-1' }])],
  [
    'responses',
    'input',
    { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'f' }] }] },
  ],
  ['responses', 'tools', { tools: [search] }],
  ['responses', 'tools', { tools: [{ type: 'file_search', filters: { Vector_Store_Ids: ['vs_1'] } }] }],
  ['responses', 'tools', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
  ['responses', 'tools', { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] }],
  [
    'responses',
    'tools',
    { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }] },
  ],
  ['responses', 'tools', { input: [{ type: 'additional_tools', role: 'developer', tools: [search] }] }],
];

describe('what a provider keeps for all accounts together', () => {
  it.each(stored)('%s: %s may not name it: %j', async (door, param, more) => {
    const reply = await send(door, more);
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param } } });
    expect(reply.json.error.message).toContain('keeps');
    expect(asked()).toHaveLength(0);
  });

  it('goes on where the operator allows it', async () => {
    bench.plain.enqueue(nativeOf('chat').whole('Hi'));
    const content = [{ type: 'file', file: { file_id: 'file-1' } }];
    const reply = await send('chat', user(content), 'spare/acme/one/defra');
    expect(reply.status, reply.text).toBe(200);
    expect(asked()[0]!.json).toMatchObject(user(content));
  });

  it('on auto/, a route on which it is allowed serves', async () => {
    bench.plain.enqueue(nativeOf('chat').whole('Hi'));
    const reply = await send('chat', user([{ type: 'file', file: { file_id: 'file-1' } }]), 'auto/acme/one');
    expect(reply.json.router_metadata, reply.text).toMatchObject({ provider: 'spare' });
  });

  it.each<[string, Json]>([
    ['messages', { container: { skills: [{ type: 'anthropic', skill_id: 'xlsx', version: 'latest' }] } }],
    ['messages', { container: { id: null } }],
    ['messages', user([{ type: 'bash_code_execution_tool_result', tool_use_id: 't', content: { file_id: 'file_1' } }])],
    ['responses', input([{ type: 'input_file', file_data: 'data:x', filename: 'x.pdf', file_id: null }])],
  ])('%s: what names nothing goes on: %j', async (door, more) => {
    const { server, whole } = nativeOf(door);
    bench[server].enqueue(whole('Hi'));
    const reply = await send(door, more);
    expect(reply.status, reply.text).toBe(200);
    expect(asked()[0]!.json).toMatchObject(more);
  });
});

const fetcher = { type: 'web_fetch_20260309', name: 'web_fetch' };
const added = { type: 'tool_addition', tool: { type: 'tool_definition', definition: fetcher } };

describe('tools that run at the provider and have no price', () => {
  it.each<[string, string, Json]>([
    ['messages', 'that the conversation adds', user([{ type: 'text', text: 'Hi' }, added])],
    [
      'messages',
      'that a compacted conversation has',
      user([{ type: 'compaction', content: 'x', tool_changes: [added] }]),
    ],
    [
      'responses',
      'that an item adds',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation' }] }] },
    ],
    [
      'responses',
      'that a search for tools found',
      { input: [{ type: 'tool_search_output', call_id: 'c', tools: [{ type: 'image_generation' }] }] },
    ],
  ])('%s: %s', async (door, _, more) => {
    const reply = await send(door, more);
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'tools' } } });
    expect(asked()).toHaveLength(0);
  });

  it.each<[string, Json]>([
    ['responses', { tools: [{ type: 'shell', environment: { type: 'local' } }] }],
    ['responses', { tools: [{ type: 'shell' }] }],
    ['responses', { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] }] }],
    ['messages', { tools: [{ type: 'mcp_toolset', mcp_server_name: 'm' }], mcp_servers: passedValues.mcp_servers }],
  ])('%s: %j needs none, or has one', async (door, more) => {
    const { server, whole } = nativeOf(door);
    bench[server].enqueue(whole('Hi'));
    const reply = await send(door, more);
    expect(reply.status, reply.text).toBe(200);
    expect(asked()[0]!.json).toMatchObject(more);
  });

  it.each(chatting)('%s: a speed that has no price', async (door) => {
    const reply = await send(door, { speed: 'faster' });
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'speed' } } });
    expect(asked()).toHaveLength(0);
  });
});
