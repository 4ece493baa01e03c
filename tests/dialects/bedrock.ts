/** A scripted upstream for Bedrock's Converse API: its answers, and a reader of the requests that it receives. */
import { bedrock } from '../../src/providers/dialects/bedrock/bedrock.js';
import { joined } from './answers.js';
import { bedrockMeaning } from './bedrock-meaning.js';
import { bedrockRequests } from './bedrock-requests.js';
import type { DialectFixture, Said, SaidUsage, WriteJson } from './dialect-fixture.js';
import { eventFrame, eventStreamChunks, exceptionFrame } from './event-stream-frames.js';

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'guardrail_intervened',
};
const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h';

/** Cached tokens are counted apart here; a few are written to the cache too. */
function usageOf({ prompt, cached, completion }: SaidUsage): object {
  const written = cached > 0 ? 6 : 0;
  return {
    inputTokens: prompt - cached - written,
    outputTokens: completion,
    totalTokens: prompt + completion,
    ...(cached > 0 && { cacheReadInputTokens: cached, cacheWriteInputTokens: written }),
  };
}

function whole({ text, reasoning, toolCalls = [], finish, usage }: Said): object {
  const content = [
    ...(reasoning ? [{ reasoningContent: { reasoningText: { text: joined(reasoning), signature } } }] : []),
    ...(joined(text) === '' ? [] : [{ text: joined(text) }]),
    ...toolCalls.map(({ id, name, arguments: pieces }) => ({
      toolUse: { toolUseId: id, name, input: JSON.parse(joined(pieces) || '{}') },
    })),
  ];
  return {
    metrics: { latencyMs: 551 },
    output: { message: { content, role: 'assistant' } },
    stopReason: stopReasons[finish],
    usage: usageOf(usage),
  };
}

type Event = [type: string, payload: object];

const deltas = (contentBlockIndex: number, all: object[]): Event[] => [
  ...all.map((delta): Event => ['contentBlockDelta', { contentBlockIndex, delta }]),
  ['contentBlockStop', { contentBlockIndex }],
];

/** Only tools have a start. */
function blocks({ text = [], reasoning, toolCalls = [] }: Said): Event[] {
  const made: ((index: number) => Event[])[] = [];
  if (reasoning) {
    const pieces = reasoning.map((piece) => ({ reasoningContent: { text: piece } }));
    made.push((index) => deltas(index, [...pieces, { reasoningContent: { signature } }]));
  }
  if (text.length > 0) {
    made.push((index) =>
      deltas(
        index,
        text.map((piece) => ({ text: piece })),
      ),
    );
  }
  for (const { id, name, arguments: pieces } of toolCalls) {
    made.push((contentBlockIndex) => [
      ['contentBlockStart', { contentBlockIndex, start: { toolUse: { name, toolUseId: id } } }],
      ...deltas(
        contentBlockIndex,
        pieces.map((piece) => ({ toolUse: { input: piece } })),
      ),
    ]);
  }
  return made.flatMap((make, index) => make(index));
}

function events(said: Said): Event[] {
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocks(said),
    ['aLaterInvention', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: stopReasons[said.finish] }],
    ['metadata', { metrics: { latencyMs: 551 }, usage: usageOf(said.usage) }],
  ];
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Two of three are padded, to different lengths, as the service does. */
function frameOf([type, payload]: Event, at: number, write: WriteJson): Buffer {
  return eventFrame(type, write(at % 3 === 0 ? payload : { ...payload, p: alphabet.slice(0, (at * 7) % 60) }));
}

const errorType = (type: string) => ({
  'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
});

export const bedrockFixture: DialectFixture = {
  dialect: 'bedrock',
  basePath: '',
  upstreamModel: 'eu.anthropic.claude-sonnet-4-6-v1:0',
  paths: {
    whole: '/model/eu.anthropic.claude-sonnet-4-6-v1%3A0/converse',
    stream: '/model/eu.anthropic.claude-sonnet-4-6-v1%3A0/converse-stream',
  },
  requests: bedrockRequests,
  lacks: { 'an image by address': 'Converse takes no addresses but those of S3, and the gateway fetches nothing' },
  refuses: ['n', 'logprobs', 'logit_bias', 'json_object'],
  countsReasoning: false,
  whole,
  streamContentType: 'application/vnd.amazon.eventstream',
  frames: (said, write) => events(said).map((event, at) => frameOf(event, at, write)),
  overloadedFrame: exceptionFrame(
    'throttlingException',
    '{"message":"Too many tokens, please wait before trying again."}',
  ),
  errorInside: { __type: 'ServiceUnavailableException', message: 'Bedrock is unable to process your request.' },
  failures: {
    rejected: {
      status: 400,
      body: { message: 'The model returned the following errors: guardrails: Extra inputs are not permitted' },
      headers: errorType('ValidationException'),
    },
    too_long: {
      status: 400,
      body: { message: 'Input is too long for requested model.' },
      headers: errorType('ValidationException'),
    },
    capacity: {
      status: 429,
      body: { message: 'The model is not ready to serve inference requests.' },
      headers: errorType('ModelNotReadyException'),
    },
    rate_limit: {
      status: 429,
      body: { message: 'Too many requests, please wait before trying again.' },
      headers: errorType('ThrottlingException'),
    },
    auth: {
      status: 403,
      body: { message: 'The security token included in the request is invalid.' },
      headers: errorType('UnrecognizedClientException'),
    },
    unknown_model: {
      status: 404,
      body: { message: 'The provided model identifier does not exist.' },
      headers: errorType('ResourceNotFoundException'),
    },
    server_error: {
      status: 424,
      body: { message: 'The model failed.', originalStatusCode: 500 },
      headers: errorType('ModelErrorException'),
    },
  },
  meaningOf: bedrockMeaning,
  chunksOf: (pieces) => eventStreamChunks(bedrock, pieces),
};
