/**
 * Names that differ from a field only in case. Some providers ignore case when they read JSON, so such a name could override what was
 * checked, priced and pinned. It is refused at every door, and no provider is asked.
 */
import { describe, expect, it } from 'vitest';
import type { Json, Reply } from '../support/client.js';
import { json } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { doorCases, upstreamsOf } from './doors.js';
import { failure, useSockets } from './socket-client.js';

const bench = useDoors();
const { open } = useSockets(bench);
const [chat, messages, responses] = doorCases;
const post = (path: string, body: unknown): Promise<Reply> => bench.gateway.call('POST', path, body);
const asked = () => [...bench.native.calls, ...bench.plain.calls];

const plainPin = 'plain/acme/one/defra';
const claudePin = 'claude/acme/one/defra';
const respondPin = 'respond/acme/one/defra';

interface Case {
  readonly path: string;
  readonly body: Json;
  /** Spellings, with the name that each is read as. */
  readonly names: readonly (readonly [sent: string, meant: string])[];
}

/** Go's encoding/json reads ſ (U+017F) as s, and the sign of Kelvin (U+212A) as k. */
const shared = [
  ['Model', 'model'],
  ['MODEL', 'model'],
  ['Stream', 'stream'],
  ['\u017ftream', 'stream'],
  ['Models', 'models'],
  ['model\u017f', 'models'],
  ['Fallbacks', 'fallbacks'],
  ['fallbac\u212a', 'fallback'],
  ['Provider', 'provider'],
  ['Session_Id', 'session_id'],
  ['serv\u0131ce_tier', 'service_tier'],
  ['Service_Tier', 'service_tier'],
  ['Tools', 'tools'],
  ['Plugins', 'plugins'],
  ['Inference_Geo', 'inference_geo'],
] as const;

const cases: readonly Case[] = [
  {
    path: chat!.path,
    body: chat!.ask(plainPin),
    names: [
      ...shared,
      ['N', 'n'],
      ['MAX_TOKENS', 'max_tokens'],
      ['max_to\u212aens', 'max_tokens'],
      ['Max_Completion_Tokens', 'max_completion_tokens'],
      ['Stream_Options', 'stream_options'],
      ['Web_Search_Options', 'web_search_options'],
      ['Modalities', 'modalities'],
      ['Messages', 'messages'],
      ['Response_Format', 'response_format'],
      ['Store', 'store'],
    ],
  },
  {
    path: messages!.path,
    body: messages!.ask(claudePin),
    names: [
      ...shared,
      ['Max_Tokens', 'max_tokens'],
      ['Speed', 'speed'],
      ['Thread', 'thread'],
      ['MCP_servers', 'mcp_servers'],
    ],
  },
  {
    path: '/v1/messages/count_tokens',
    body: messages!.ask(claudePin),
    names: [
      ['Model', 'model'],
      ['Tool\u017f', 'tools'],
    ],
  },
  {
    path: responses!.path,
    body: responses!.ask(respondPin),
    names: [
      ...shared,
      ['Store', 'store'],
      ['\u017ftore', 'store'],
      ['Background', 'background'],
      ['Previous_Response_Id', 'previous_response_id'],
      ['Conversation', 'conversation'],
      ['Max_Output_Tokens', 'max_output_tokens'],
    ],
  },
  {
    path: '/v1/responses/compact',
    body: { model: respondPin, input: 'Hi' },
    names: [
      ['Model', 'model'],
      ['Store', 'store'],
    ],
  },
  {
    path: '/v1/embeddings',
    body: { model: 'plain/acme/vectors', input: 'Hi' },
    names: [
      ['Model', 'model'],
      ['D\u0131mensions', 'dimensions'],
    ],
  },
  {
    path: '/v1/rerank',
    body: { model: 'plain/acme/rerank', query: 'x', documents: ['a'] },
    names: [
      ['Model', 'model'],
      ['TOP_N', 'top_n'],
    ],
  },
  {
    path: '/v1/routes/explain',
    body: { ...messages!.ask(claudePin), door: 'messages' },
    names: [['Model', 'model']],
  },
];

describe.each(cases)('$path', ({ path, body, names }) => {
  it.each(names)('%s is refused, and the message says to write %s', async (sent, meant) => {
    for (const value of [JSON.stringify('x'), 'true', 'null']) {
      const own = JSON.stringify(body).slice(1, -1);
      for (const text of [`{${own},"${sent}":${value}}`, `{"${escaped(sent)}":${value},${own}}`]) {
        const reply = await post(path, text);
        expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: sent } } });
        expect(reply.json.error.message).toContain(`\`${meant}\``);
        expect(reply.json.error.message).toContain('lower case');
      }
    }
    expect(asked()).toHaveLength(0);
  });
});

/** The same name, its first letter as an escape. */
function escaped(name: string): string {
  return `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;
}

describe('a WebSocket', () => {
  it.each([
    ['Model', 'model'],
    ['Store', 'store'],
    ['Type', 'type'],
    ['Generate', 'generate'],
    ['Previou\u017f_Response_Id', 'previous_response_id'],
  ])('%s is refused', async (sent, meant) => {
    const client = await open();
    client.send({ type: 'response.create', model: respondPin, input: 'Hi', [sent]: 'x' });
    const found = failure(await client.turn());
    expect(found).toMatchObject({ status: 400, param: sent });
    expect(found.message).toContain(`\`${meant}\``);
    expect(asked()).toHaveLength(0);
  });
});

const search = { type: 'web_search_20260209', name: 'web_search' };
const fn = { type: 'function', function: { name: 'f', parameters: { Type: 'object', Properties: {} } } };

describe('names further in, on which a price, a refusal or a pin depends', () => {
  it.each<[door: string, pin: string, more: Json, param: string, place: string]>([
    [
      'chat',
      plainPin,
      { stream: true, stream_options: { Include_Usage: false } },
      'stream_options',
      'stream_options.Include_Usage',
    ],
    ['chat', plainPin, { tools: [fn, { ...fn, Type: 'web_search' }] }, 'tools', 'tools[1].Type'],
    [
      'chat',
      plainPin,
      { messages: [{ role: 'user', content: 'Hi', Content: 'x' }] },
      'messages',
      'messages[0].Content',
    ],
    [
      'chat',
      plainPin,
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', Type: 'input_audio' }] }] },
      'messages',
      'messages[0].content[0].Type',
    ],
    ['messages', claudePin, { tools: [{ name: 'f', input_schema: {}, Type: search.type }] }, 'tools', 'tools[0].Type'],
    [
      'messages',
      claudePin,
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', Type: 'container_upload' }] }] },
      'messages',
      'Type',
    ],
    [
      'responses',
      respondPin,
      { tools: [{ type: 'function', name: 'f', Type: 'file_search' }] },
      'tools',
      'tools[0].Type',
    ],
    [
      'responses',
      respondPin,
      { input: [{ type: 'message', role: 'user', content: 'Hi', Type: 'item_reference' }] },
      'input',
      'input[0].Type',
    ],
    [
      'responses',
      respondPin,
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:x', File_Id: 'file-1' }] }] },
      'input',
      'input[0].content[0].File_Id',
    ],
  ])('%s on %s: %j', async (name, pin, more, param, place) => {
    const door = doorCases.find((each) => each.name === name)!;
    const reply = await post(door.path, door.ask(pin, more));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param } } });
    expect(reply.json.error.message).toContain(place);
    expect(reply.json.error.message).toContain('lower case');
    expect(asked()).toHaveLength(0);
  });

  it('chat: a tool that has its type twice is judged by the last one', async () => {
    const tools = '[{"type":"function","function":{"name":"f"},"type":"code_interpreter"}]';
    const body = JSON.stringify(chat!.ask(plainPin)).replace(/}$/, `,"tools":${tools}}`);
    const reply = await post(chat!.path, body);
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'tools' } } });
    expect(asked()).toHaveLength(0);
  });
});

describe('what goes on as before', () => {
  it.each(doorCases.map((door) => [door.name, door] as const))(
    '%s: unknown names, and other case where names are the client’s',
    async (_, door) => {
      const upstream = upstreamsOf[door.name]!.at(-1)!;
      const own = { x_vendor: 1, 'x-Vendor': 2, enableThinking: true, Größe: 3, metadata: { Model: 'x', Type: 'y' } };
      const schema = { type: 'object', properties: { Type: { type: 'string' }, Model: { type: 'string' } } };
      const tool: Json =
        door.name === 'chat'
          ? { type: 'function', function: { name: 'f', parameters: schema } }
          : door.name === 'messages'
            ? { name: 'f', input_schema: schema }
            : { type: 'function', name: 'f', parameters: schema };
      bench[upstream.server].enqueue(upstream.whole('Hi'));
      const body = door.ask(upstream.pin, { ...own, tools: [tool] });
      const reply = await post(door.path, body);
      expect(reply.status, reply.text).toBe(200);
      expect(asked()[0]!.json).toMatchObject({ ...own, tools: [tool] });
    },
  );

  it.each(doorCases.map((door) => [door.name, door] as const))(
    '%s: a name with escapes counts as the name, and comes once',
    async (_, door) => {
      const upstream = upstreamsOf[door.name]!.at(-1)!;
      bench[upstream.server].enqueue(upstream.whole('Hi'));
      const body = JSON.stringify(door.ask(upstream.pin)).replace(/}$/, `,"\\u006dodel":"${upstream.pin}"}`);
      const reply = await post(door.path, body);
      expect(reply.status, reply.text).toBe(200);
      const sent = asked()[0]!.body.toString('utf8');
      expect(sent.match(/"[^"]*odel":"upstream-model"/g)).toEqual(['"model":"upstream-model"']);
      expect(sent).not.toContain(upstream.pin);
    },
  );
});

it('a field that an API does not have is named, and cut where it is long', async () => {
  const long = 'é'.repeat(5_000);
  const reply = await post('/v1/embeddings', { model: 'plain/acme/vectors', input: 'Hi', [long]: 1 });
  expect(reply.status).toBe(400);
  expect(reply.json.error.param).toMatch(/^é{50,200}…?$/);
  expect(reply.text.length).toBeLessThan(2_000);
  bench.plain.enqueue(json({}));
});
