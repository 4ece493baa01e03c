/** The behaviour of each sandbox model, by upstream model name. */
import { answerOf } from './answer.js';
import {
  addReasoning,
  addUsage,
  type CompletionHead,
  closingFrames,
  completionJson,
  contentFrames,
  type DialectError,
  errorJson,
  reasoningFrames,
  usageFrame,
} from './openai-json.js';
import type { PromptUsage } from './prompt-cache.js';
import { readSandboxRequest } from './request.js';
import type { Script } from './script.js';
import { embed, rerank } from './tasks.js';

interface SandboxCall {
  readonly head: CompletionHead;
  readonly body: Buffer;
  readonly stream: boolean;
  /** How often the route was called in this process, this call included. */
  readonly callNumber: number;
  /** Reads a prompt with the route's prompt cache. */
  readPrompt(messages: readonly unknown[]): PromptUsage;
}

export type Behaviour = (call: SandboxCall) => Script;

type Content = Pick<Script, 'pieces' | 'contentPieces'>;

const wordPaceMs = 15;
const slowFirstByteMs = 2000;
const slowPaceMs = 200;
const stalledPieces = 4;
const choicesMax = 16;
/** From call to call the first byte takes between these times, further apart than the steps of the ranking. */
const cachedFirstByteMs = 60;
const cachedVarianceMs = 300;
const cachedStepMs = 170;

function echo(call: SandboxCall): Script {
  const request = readSandboxRequest(call.body);
  if (!request) return refuse(400, invalid('messages', 'The request body is no JSON object.'));
  const { choices, responseFormat } = request;
  if (choices > choicesMax) return refuse(400, invalid('n', `\`n\` is ${choices}, but must be at most ${choicesMax}.`));
  if (responseFormat === 'json_schema') {
    return refuse(
      400,
      invalid('response_format', 'Unsupported value: the sandbox knows json_object, but no json_schema.'),
    );
  }
  const { head, stream } = call;
  const answer = answerOf(request);
  const content = stream ? contentFrames(head, answer, choices) : [completionJson(head, answer, choices)];
  return {
    status: 200,
    contentType: stream ? 'text/event-stream' : 'application/json',
    firstByteMs: 0,
    paceMs: wordPaceMs,
    pieces: stream ? [...content, ...closingFrames(head, answer, choices)] : content,
    contentPieces: content.length,
    ending: 'end',
  };
}

const refuse = (status: number, error: DialectError): Script => ({
  status,
  contentType: 'application/json',
  firstByteMs: 0,
  paceMs: 0,
  pieces: [errorJson(error)],
  contentPieces: 0,
  ending: 'end',
});

/** `answer` is JSON, or says why there is none. */
const answerOnce = (answer: object | string): Script => {
  if (typeof answer === 'string') return refuse(400, invalid('input', `Unsupported value: ${answer}`));
  const pieces = [Buffer.from(JSON.stringify(answer))];
  return { ...neverAnswer(), firstByteMs: 0, pieces, contentPieces: 1, ending: 'end' };
};

const invalid = (param: string, message: string): DialectError => ({
  message,
  type: 'invalid_request_error',
  param,
  code: 'invalid_value',
});

const neverAnswer = (): Script => ({
  status: 200,
  contentType: 'application/json',
  firstByteMs: null,
  paceMs: 0,
  pieces: [],
  contentPieces: 0,
  ending: 'silence',
});

/** Sends a few pieces of a stream, or half of a body, and then nothing. */
function stall(call: SandboxCall): Script {
  const script = echo(call);
  if (script.status !== 200) return script;
  const { pieces, contentPieces } = script;
  const sent = call.stream
    ? pieces.slice(0, Math.min(stalledPieces, contentPieces))
    : pieces.map((body) => body.subarray(0, body.length >> 1));
  return { ...script, pieces: sent, ending: 'silence' };
}

/** Breaks off after a few pieces, as a connection does that is lost. */
function cut(call: SandboxCall): Script {
  return { ...stall(call), ending: 'break' };
}

/** Thinks first, then echoes. */
function thinking(call: SandboxCall): Script {
  const script = echo(call);
  return script.status === 200 ? { ...script, ...withThinking(call, script) } : script;
}

function withThinking({ head, stream }: SandboxCall, { pieces, contentPieces }: Script): Content {
  if (!stream) return { pieces: pieces.map((body) => addReasoning(body, thought)), contentPieces };
  const frames = reasoningFrames(head, thought);
  return { pieces: [...frames, ...pieces], contentPieces: contentPieces + frames.length };
}

const thought = 'The user wrote something. I repeat it.';

/**
 * Reports what its prompt cache has read. Its first byte comes after a time that depends on the call, as with real providers, so that
 * the ranking of equal routes changes from one request to the next.
 */
function cached(call: SandboxCall): Script {
  const script = echo(call);
  const request = script.status === 200 ? readSandboxRequest(call.body) : undefined;
  if (!request) return script;
  const { promptTokens, cachedTokens } = call.readPrompt(request.messages);
  const answer = answerOf(request);
  const completion = answer.kind === 'text' ? answer.pieces.length : 1;
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completion,
    total_tokens: promptTokens + completion,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
  const firstByteMs = cachedFirstByteMs + ((call.callNumber * cachedStepMs) % cachedVarianceMs);
  return { ...withUsage(call, script, usage), firstByteMs };
}

const faultyUsage = { prompt_tokens: -1, completion_tokens: 1, total_tokens: 0 };

/** Answers with a usage that no bill can be made from. */
function pricingFault(call: SandboxCall): Script {
  const script = echo(call);
  if (script.status !== 200) return script;
  return withUsage(call, script, faultyUsage);
}

function withUsage({ head, stream }: SandboxCall, script: Script, usage: object): Script {
  const { pieces, contentPieces } = script;
  if (!stream) return { ...script, pieces: pieces.map((body) => addUsage(body, usage)) };
  const frame = usageFrame(head, usage);
  return { ...script, pieces: [...pieces.slice(0, contentPieces), frame, ...pieces.slice(contentPieces)] };
}

/** A Map, so that a name such as `constructor` finds nothing. */
export const behaviours: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['echo', echo],
  ['unpriced', echo],
  ['slow', (call) => ({ ...echo(call), firstByteMs: slowFirstByteMs, paceMs: slowPaceMs })],
  ['timeout', neverAnswer],
  ['stall', stall],
  ['cut', cut],
  ['thinking', thinking],
  ['pricing-fault', pricingFault],
  ['cached', cached],
  ['embed', ({ body }) => answerOnce(embed(body))],
  ['rerank', ({ body }) => answerOnce(rerank(body))],
  [
    'capacity',
    () =>
      refuse(429, {
        message: 'The request queue is full: all 64 places are taken. Please try again later.',
        type: 'overloaded_error',
        code: 'queue_full',
      }),
  ],
  [
    'reject',
    () => refuse(400, invalid('messages', 'Unsupported value: the sandbox model `reject` takes no messages at all.')),
  ],
  [
    'quota',
    () =>
      refuse(429, {
        message:
          'The daily token quota is spent: limit 100000 tokens per day (TPD), used 100000. It resets at midnight UTC.',
        type: 'tokens',
        code: 'daily_quota_exceeded',
      }),
  ],
  [
    'flaky',
    (call) =>
      call.callNumber % 2 === 1
        ? echo(call)
        : refuse(503, { message: 'The service is temporarily unavailable.', type: 'server_error', code: null }),
  ],
  [
    'server-error',
    () =>
      refuse(500, {
        message: 'The server had an error while processing the request.',
        type: 'server_error',
        code: null,
      }),
  ],
]);

export const unknownModel = (name: string): Script =>
  refuse(404, {
    message: `The model \`${name}\` does not exist in the sandbox.`,
    type: 'invalid_request_error',
    code: 'model_not_found',
  });
