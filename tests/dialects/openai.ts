/** OpenAI's own dialect as the reference: a request arrives unchanged. */
import { openai } from '../../src/providers/dialects/openai/openai.js';
import type { Json } from '../support/client.js';
import { chunk, completion, frameText, usage } from '../support/scripted-upstream.js';
import { expectedOf, joined } from './answers.js';
import { type CaseName, cases } from './cases.js';
import type { DialectFixture, Said, SaidUsage, WriteJson } from './dialect-fixture.js';
import { meaningOfOpenAi } from './meaning.js';
import { sseChunks } from './sse-chunks.js';

/** All cases, as they were sent. */
export const sameRequests = (model: string) =>
  Object.fromEntries(cases.map(({ name, request }) => [name, { model, ...request } as Json])) as Record<CaseName, Json>;

export function openAiUsage({ prompt, cached, completion: answer, reasoning }: SaidUsage): object {
  return usage(prompt, answer, {
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  });
}

export function openAiWhole(said: Said): Json {
  const calls = expectedOf(said).toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const text = joined(said.text);
  return completion({
    content: calls.length > 0 && text === '' ? null : text,
    finishReason: said.finish,
    usage: openAiUsage(said.usage),
    message: {
      ...(said.reasoning && { reasoning_content: joined(said.reasoning) }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  });
}

/** The deltas of an answer, in order. */
export function openAiDeltas(said: Said): object[] {
  const { text = [], reasoning = [], toolCalls = [] } = said;
  const whole = expectedOf(said).toolCalls;
  const calls = toolCalls.flatMap(({ id, name, arguments: pieces }, index) => [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...(pieces.length > 0 ? pieces : [whole[index]!.arguments]).map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ]);
  return [
    { role: 'assistant', content: '' },
    ...reasoning.map((piece) => ({ reasoning_content: piece })),
    ...text.map((piece) => ({ content: piece })),
    ...calls,
  ];
}

function frames(said: Said, write: WriteJson): string[] {
  return [
    ...openAiDeltas(said).map((delta) => chunk({ delta })),
    chunk({ delta: {}, finishReason: said.finish }),
    chunk({ choices: [], usage: openAiUsage(said.usage) }),
  ]
    .map((frame) => frameText(`data: ${write(frame)}\n\n`))
    .concat('data: [DONE]\n\n');
}

const error = (message: string, type: string, code: string | null) => ({ error: { message, type, param: null, code } });

export const openAiFailures: DialectFixture['failures'] = {
  rejected: { status: 400, body: error('Unsupported value: `top_p`.', 'invalid_request_error', 'unsupported_value') },
  too_long: {
    status: 400,
    body: error(
      'This model has a maximum context length of 8192 tokens.',
      'invalid_request_error',
      'context_length_exceeded',
    ),
  },
  capacity: { status: 503, body: error('The engine is currently overloaded.', 'server_error', 'overloaded') },
  rate_limit: {
    status: 429,
    body: error('Rate limit reached for requests per min.', 'requests', 'rate_limit_exceeded'),
  },
  auth: { status: 401, body: error('Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key') },
  unknown_model: { status: 404, body: error('The model does not exist.', 'invalid_request_error', 'model_not_found') },
  server_error: { status: 500, body: error('The server had an error.', 'server_error', null) },
};

const overloaded = error('The engine is currently overloaded.', 'server_error', 'overloaded');

export const openAiFixture: DialectFixture = {
  dialect: 'openai',
  basePath: '/v1',
  upstreamModel: 'upstream-model',
  paths: { whole: '/v1/chat/completions', stream: '/v1/chat/completions' },
  requests: sameRequests('upstream-model'),
  lacks: {},
  refuses: [],
  countsReasoning: true,
  whole: openAiWhole,
  streamContentType: 'text/event-stream',
  frames,
  overloadedFrame: frameText(overloaded),
  errorInside: overloaded,
  failures: openAiFailures,
  meaningOf: meaningOfOpenAi,
  chunksOf: (pieces) => sseChunks(openai, pieces),
};
