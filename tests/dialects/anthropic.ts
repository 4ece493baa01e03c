/** A scripted upstream for Anthropic's Messages API: its answers, and a reader of the requests that it receives. */
import { anthropic } from '../../src/providers/dialects/anthropic/anthropic.js';
import { joined } from './answers.js';
import { anthropicMeaning } from './anthropic-meaning.js';
import { anthropicRequests } from './anthropic-requests.js';
import type { DialectFixture, Said, SaidUsage, WriteJson } from './dialect-fixture.js';
import { sseChunks } from './sse-chunks.js';

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' };
const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h';

/** Cached tokens are counted apart here; a few are written to the cache too. */
function usageOf({ prompt, cached, completion, reasoning }: SaidUsage): object {
  const written = cached > 0 ? 6 : 0;
  return {
    input_tokens: prompt - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    service_tier: 'standard',
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function whole({ text, reasoning, toolCalls = [], finish, usage }: Said): object {
  return {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6-20260217',
    content: [
      ...(reasoning ? [{ type: 'thinking', thinking: joined(reasoning), signature }] : []),
      ...(joined(text) === '' ? [] : [{ type: 'text', text: joined(text), citations: null }]),
      ...toolCalls.map(({ id, name, arguments: pieces }) => ({
        type: 'tool_use',
        id,
        name,
        input: JSON.parse(joined(pieces) || '{}'),
      })),
    ],
    stop_reason: stopReasons[finish],
    stop_sequence: null,
    usage: usageOf(usage),
  };
}

type Event = { type: string; [member: string]: unknown };

function block(index: number, start: object, deltas: object[]): Event[] {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function blocks({ text = [], reasoning, toolCalls = [] }: Said): Event[][] {
  const made: ((index: number) => Event[])[] = [];
  if (reasoning) {
    made.push((index) =>
      block(index, { type: 'thinking', thinking: '', signature: '' }, [
        ...reasoning.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature },
      ]),
    );
  }
  if (text.length > 0) {
    made.push((index) =>
      block(
        index,
        { type: 'text', text: '' },
        text.map((piece) => ({ type: 'text_delta', text: piece })),
      ),
    );
  }
  for (const { id, name, arguments: pieces } of toolCalls) {
    made.push((index) =>
      block(
        index,
        { type: 'tool_use', id, name, input: {} },
        ['', ...pieces].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      ),
    );
  }
  return made.map((make, index) => make(index));
}

function events(said: Said): Event[] {
  const [first = [], ...others] = blocks(said);
  const { output_tokens, ...input } = usageOf(said.usage) as { output_tokens: number };
  const message = {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6-20260217',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...input, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message },
    ...first.slice(0, 1),
    { type: 'ping' },
    ...first.slice(1),
    ...others.flat(),
    { type: 'a_later_invention', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stopReasons[said.finish], stop_sequence: null },
      usage: { output_tokens, cache_read_input_tokens: null },
    },
    { type: 'message_stop' },
  ];
}

/** Every third delta is padded before its last brace, as the service does. */
function frameOf(event: Event, index: number, write: WriteJson): string {
  const text = write(event);
  const padded = event.type === 'content_block_delta' && index % 3 === 0 ? `${text.slice(0, -1)}      }` : text;
  return `event: ${event.type}\ndata: ${padded}\n\n`;
}

const error = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_011' });
const overloaded = error('overloaded_error', 'Overloaded');

export const anthropicFixture: DialectFixture = {
  dialect: 'anthropic',
  basePath: '/v1',
  upstreamModel: 'claude-sonnet-4-6',
  paths: { whole: '/v1/messages', stream: '/v1/messages' },
  requests: anthropicRequests,
  lacks: {},
  refuses: ['n', 'logprobs', 'logit_bias', 'json_object'],
  countsReasoning: true,
  usageComesFirst: true,
  whole,
  streamContentType: 'text/event-stream; charset=utf-8',
  frames: (said, write) => events(said).map((event, index) => frameOf(event, index, write)),
  overloadedFrame: `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`,
  errorInside: overloaded,
  failures: {
    rejected: {
      status: 400,
      body: error('invalid_request_error', 'messages.0.content.1.type: Extra inputs are not permitted'),
    },
    too_long: {
      status: 400,
      body: error('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    },
    capacity: { status: 529, body: overloaded },
    rate_limit: {
      status: 429,
      body: error('rate_limit_error', "This request would exceed your account's rate limit. Please try again later."),
      headers: { 'retry-after': '12', 'anthropic-ratelimit-requests-remaining': '0' },
    },
    auth: { status: 401, body: error('authentication_error', 'invalid x-api-key') },
    unknown_model: { status: 404, body: error('not_found_error', 'model: claude-sonnet-4-6') },
    server_error: { status: 500, body: error('api_error', 'Internal server error') },
  },
  meaningOf: anthropicMeaning,
  chunksOf: (pieces) => sseChunks(anthropic, pieces),
};
