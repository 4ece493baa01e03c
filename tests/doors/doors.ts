/** How the shared suite speaks through each door, and what it reads from the answers. */
import type { Json, Reply, StreamReply } from '../support/client.js';
import { chunk, completion, json, type Script, sse, streamOf, usage } from '../support/scripted-upstream.js';

export interface DoorCase {
  readonly name: string;
  readonly path: string;
  /** A request for a text answer. */
  ask(model: string, more?: Json): Json;
  /** Where an error's members are, and its type by status. */
  typeOf(status: number): string;
  textOf(reply: Reply): string;
  streamTextOf(reply: StreamReply): string;
  /** What each end of a stream looks like. */
  expectEnd(reply: StreamReply): { end: string | undefined; reason: unknown; closed: boolean };
  usageOf(reply: Reply): { input: number; output: number; cost: number };
}

const openAiType: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found',
  429: 'rate_limit_error',
};
const anthropicType: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

// biome-ignore lint/suspicious/noExplicitAny: frames of any shape
type Frame = any;
const framesOf = (reply: StreamReply): Frame[] =>
  reply.frames.flatMap(({ json: data }) => (data ? [data as Frame] : []));

const chat: DoorCase = {
  name: 'chat',
  path: '/v1/chat/completions',
  ask: (model, more) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100, ...more }),
  typeOf: (status) => openAiType[status] ?? (status >= 500 ? 'provider_error' : 'invalid_request_error'),
  textOf: ({ json: body }) => body.choices[0].message.content,
  streamTextOf: (reply) => reply.content,
  expectEnd(reply) {
    const frames = framesOf(reply);
    const last = frames.at(-1);
    const reason = frames.map((frame) => frame.choices?.[0]?.finish_reason).find(Boolean) ?? null;
    return { end: last.router_metadata?.stream_end, reason, closed: reply.done };
  },
  usageOf: ({ json: { usage: used } }) => ({
    input: used.prompt_tokens,
    output: used.completion_tokens,
    cost: used.cost,
  }),
};

const messages: DoorCase = {
  name: 'messages',
  path: '/v1/messages',
  ask: (model, more) => ({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100, ...more }),
  typeOf: (status) => anthropicType[status] ?? 'invalid_request_error',
  textOf: ({ json: body }) => body.content.map((block: Json) => block.text ?? '').join(''),
  streamTextOf: (reply) =>
    framesOf(reply)
      .map(({ delta }) => delta?.text ?? '')
      .join(''),
  expectEnd(reply) {
    const frames = framesOf(reply);
    const stop = frames.find(({ type }) => type === 'message_stop');
    const delta = frames.find(({ type }) => type === 'message_delta');
    return {
      end: stop?.router_metadata?.stream_end,
      reason: delta?.delta.stop_reason ?? null,
      closed: stop !== undefined,
    };
  },
  usageOf: ({ json: { usage: used } }) => ({ input: used.input_tokens, output: used.output_tokens, cost: used.cost }),
};

const responses: DoorCase = {
  name: 'responses',
  path: '/v1/responses',
  ask: (model, more) => ({ model, input: 'Hi', max_output_tokens: 100, ...more }),
  typeOf: chat.typeOf,
  textOf: ({ json: body }) =>
    body.output
      .flatMap((item: Frame) => item.content ?? [])
      .map((part: Frame) => part.text)
      .join(''),
  streamTextOf: (reply) =>
    framesOf(reply)
      .flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : []))
      .join(''),
  expectEnd(reply) {
    const last = framesOf(reply).at(-1);
    const reason = last.type === 'response.completed' ? 'completed' : null;
    return { end: last.response?.router_metadata?.stream_end, reason, closed: last.response !== undefined };
  },
  usageOf: ({ json: { usage: used } }) => ({ input: used.input_tokens, output: used.output_tokens, cost: used.cost }),
};

export const doorCases: readonly DoorCase[] = [chat, messages, responses];

/** A script in the API of the route: chat completions for `plain`, the door's own API for the native one. */
export interface Upstream {
  readonly pin: string;
  readonly server: 'plain' | 'native';
  whole(text: string): Script;
  stream(texts: readonly string[], options?: object): Script;
  /** A stream whose figures cannot be billed. */
  faulty(texts: readonly string[]): Script;
}

const plain: Upstream = {
  pin: 'plain/acme/one/defra',
  server: 'plain',
  whole: (text) => json(completion({ content: text, usage: usage(10, 4) })),
  stream: (texts, options) => sse(streamOf(texts, { usage: usage(10, 4) }), options),
  faulty: (texts) =>
    sse([
      ...texts.map((content) => chunk({ content })),
      chunk({ choices: [], usage: { prompt_tokens: -1, completion_tokens: 1 } }),
    ]),
};

const figures = { input_tokens: 10, output_tokens: 4 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model', stop_sequence: null };
const begun = {
  type: 'message_start',
  message: { ...message, content: [], stop_reason: null, usage: { ...figures, output_tokens: 1 } },
};
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const deltas = (texts: readonly string[]) =>
  texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }));
const finished = (output_tokens: number) => [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens } },
  { type: 'message_stop' },
];

const claude: Upstream = {
  pin: 'claude/acme/one/defra',
  server: 'native',
  whole: (text) => json({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: figures }),
  stream: (texts, options) => sse([begun, block, ...deltas(texts), ...finished(4)], { noDone: true, ...options }),
  faulty: (texts) => sse([begun, block, ...deltas(texts), ...finished(-1)], { noDone: true }),
};

const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'upstream-model',
  usage: { ...figures, total_tokens: 14 },
};
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const item = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const events = (texts: readonly string[], used: object) =>
  [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item(''), content: [] } },
    { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '', annotations: [] } },
    ...texts.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.completed', response: { ...response, output: [item(texts.join(''))], usage: used } },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));

const respond: Upstream = {
  pin: 'respond/acme/one/defra',
  server: 'native',
  whole: (text) => json({ ...response, output: [item(text)] }),
  stream: (texts, options) => sse(events(texts, response.usage), { noDone: true, ...options }),
  faulty: (texts) => sse(events(texts, { input_tokens: -1, output_tokens: 4 }), { noDone: true }),
};

/** The routes that each door is run against. */
export const upstreamsOf: Readonly<Record<string, readonly Upstream[]>> = {
  chat: [plain],
  messages: [plain, claude],
  responses: [plain, respond],
};

/** The events of a whole stream in the door's own API. */
export function nativeEventsOf(door: string, texts: readonly string[]): readonly { type: string }[] {
  return door === 'messages' ? [begun, block, ...deltas(texts), ...finished(4)] : events(texts, response.usage);
}
