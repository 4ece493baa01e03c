/** Errors that come under a 200, whole or as the first event of a stream: what the provider means decides, in every dialect. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { json, type Script } from '../support/scripted-upstream.js';
import type { Bytes } from '../support/upstream-scripts.js';
import { anthropicFixture } from './anthropic.js';
import { bedrockFixture } from './bedrock.js';
import type { DialectFixture } from './dialect-fixture.js';
import { eventFrame, eventStreamFrame, exceptionFrame } from './event-stream-frames.js';
import { geminiFixture } from './gemini.js';
import { type DialectRig, pin, startDialect } from './rig.js';

interface InnerError {
  title: string;
  /** A whole body; absent where the provider has the error in streams only. */
  whole?: unknown;
  frames?: Bytes[];
  status: 400 | 503;
}

const anthropicError = (type: string, status: 400 | 503, message = 'It did not work.'): InnerError => {
  const error = { type: 'error', error: { type, message } };
  return { title: type, whole: error, frames: [`event: error\ndata: ${JSON.stringify(error)}\n\n`], status };
};
const anthropicErrors: InnerError[] = [
  anthropicError('invalid_request_error', 400),
  anthropicError('request_too_large', 400),
  anthropicError('authentication_error', 503),
  anthropicError('billing_error', 503),
  anthropicError('permission_error', 503),
  anthropicError('not_found_error', 503, 'model: claude-x'),
  anthropicError('rate_limit_error', 503),
  anthropicError('timeout_error', 503),
  anthropicError('api_error', 503),
  anthropicError('overloaded_error', 503, 'Overloaded'),
  {
    title: 'a message of nothing, for no reason,',
    frames: ['{"type":"message_start","message":{"content":[]}}', '{"type":"message_stop"}'].map(
      (event) => `data: ${event}\n\n`,
    ),
    status: 503,
  },
];

const started = eventFrame('messageStart', '{"role":"assistant"}');
const bedrockError = (type: string, status: 400 | 503): InnerError => {
  const name = `${type[0]!.toUpperCase()}${type.slice(1)}`;
  const message = 'It did not work.';
  const frames = [started, exceptionFrame(type, JSON.stringify({ message }))];
  return { title: type, whole: { __type: `com.amazon.bedrock#${name}`, message }, frames, status };
};
const bedrockErrors: InnerError[] = [
  bedrockError('validationException', 400),
  bedrockError('throttlingException', 503),
  bedrockError('internalServerException', 503),
  bedrockError('serviceUnavailableException', 503),
  bedrockError('modelStreamErrorException', 503),
  bedrockError('modelTimeoutException', 503),
  bedrockError('modelNotReadyException', 503),
  bedrockError('accessDeniedException', 503),
  bedrockError('resourceNotFoundException', 503),
  {
    title: 'an error of the stream itself',
    frames: [
      started,
      eventStreamFrame({ ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'x' }, ''),
    ],
    status: 503,
  },
  ...['malformed_model_output', 'malformed_tool_use'].map(
    (stopReason): InnerError => ({
      title: `nothing but ${stopReason}`,
      whole: { output: { message: { role: 'assistant', content: [] } }, stopReason, usage: {} },
      frames: [started, eventFrame('messageStop', JSON.stringify({ stopReason }))],
      status: 503,
    }),
  ),
];

const geminiAnswer = (title: string, value: unknown, status: 400 | 503): InnerError => ({
  title,
  whole: value,
  frames: [`data: ${JSON.stringify(value)}\r\n\r\n`],
  status,
});
const geminiError = (code: number, word: string, status: 400 | 503): InnerError =>
  geminiAnswer(word, { error: { code, status: word, message: 'It did not work.' } }, status);
const geminiErrors = [
  geminiError(400, 'INVALID_ARGUMENT', 400),
  geminiError(400, 'OUT_OF_RANGE', 400),
  geminiError(401, 'UNAUTHENTICATED', 503),
  geminiError(403, 'PERMISSION_DENIED', 503),
  geminiError(404, 'NOT_FOUND', 503),
  geminiError(429, 'RESOURCE_EXHAUSTED', 503),
  geminiError(499, 'CANCELLED', 503),
  geminiError(500, 'INTERNAL', 503),
  geminiError(500, 'UNKNOWN', 503),
  geminiError(503, 'UNAVAILABLE', 503),
  geminiError(504, 'DEADLINE_EXCEEDED', 503),
  ...['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'MODEL_ARMOR', 'IMAGE_SAFETY', 'JAILBREAK', 'LATER'].map(
    (blockReason) =>
      geminiAnswer(
        `a prompt blocked for ${blockReason}`,
        { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } },
        400,
      ),
  ),
  ...['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'].map(
    (finishReason) =>
      geminiAnswer(`nothing but ${finishReason}`, { candidates: [{ content: {}, finishReason, index: 0 }] }, 503),
  ),
];

const play =
  (contentType: string, frames: Bytes[]): Script =>
  async (exchange) => {
    await exchange.write(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`);
    for (const frame of frames) await exchange.writeChunk(frame);
    await exchange.write('0\r\n\r\n');
    exchange.done();
  };

const request = { model: pin, messages: [{ role: 'user', content: 'Go.' }] };
const codes = { 400: 'invalid_request_error', 503: 'provider_error' } as const;

for (const [fixture, errors] of [
  [anthropicFixture, anthropicErrors],
  [bedrockFixture, bedrockErrors],
  [geminiFixture, geminiErrors],
] as [DialectFixture, InnerError[]][]) {
  describe(`errors under a 200 in the dialect ${fixture.dialect}`, () => {
    let rig: DialectRig;
    beforeAll(async () => {
      rig = await startDialect(fixture);
    });
    afterAll(() => rig.stop());
    beforeEach(() => rig.upstream.reset());

    for (const { title, whole, frames, status } of errors) {
      const expected = [status, codes[status]];
      if (whole !== undefined) {
        it(`${title} is a ${status}, whole`, async () => {
          rig.upstream.reply(json(JSON.stringify(whole)));
          const reply = await rig.gateway.chat(request);
          expect([reply.status, reply.json.error?.code], reply.text).toEqual(expected);
        });
      }
      if (frames) {
        it(`${title} is a ${status}, streamed`, async () => {
          rig.upstream.reply(play(fixture.streamContentType, frames));
          const reply = await rig.gateway.stream(request);
          expect([reply.status, reply.json.error?.code], reply.text).toEqual(expected);
        });
      }
    }
  });
}
