/** Frames of AWS's event stream that are damaged or cut, through a running gateway. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Script } from '../support/scripted-upstream.js';
import { chunksOf } from './answers.js';
import { bedrockFixture } from './bedrock.js';
import { figures } from './cases.js';
import { exceptionFrame } from './event-stream-frames.js';
import { type DialectRig, pin, plainJson, startDialect } from './rig.js';

let rig: DialectRig;
beforeAll(async () => {
  rig = await startDialect(bedrockFixture);
});
afterAll(() => rig.stop());
beforeEach(() => rig.upstream.reset());

const request = { model: pin, messages: [{ role: 'user', content: 'hi' }] };
const frames = bedrockFixture.frames(
  { text: ['One', ' two'], finish: 'stop', usage: figures() },
  plainJson,
) as Buffer[];
const firstText = frames.findIndex((frame) => frame.includes('"One"'));

/** All in one piece, so that a frame's end is not the end of a read. */
const play =
  (...bytes: Buffer[]): Script =>
  async (exchange) => {
    await exchange.write(
      `HTTP/1.1 200 OK\r\ncontent-type: ${bedrockFixture.streamContentType}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    await exchange.writeChunk(Buffer.concat(bytes));
    await exchange.write('0\r\n\r\n');
    exchange.done();
  };

function damaged(frame: Buffer): Buffer {
  const bytes = Buffer.from(frame);
  bytes[bytes.length - 8]! ^= 1;
  return bytes;
}

it.each<[string, Buffer[]]>([
  [
    'a damaged frame',
    [...frames.slice(0, firstText + 1), damaged(frames[firstText + 1]!), ...frames.slice(firstText + 2)],
  ],
  ['half of a frame', [...frames.slice(0, firstText + 1), frames[firstText + 1]!.subarray(0, 40)]],
])('%s after content ends the stream as cut, and nothing of it is passed on', async (_, bytes) => {
  rig.upstream.reply(play(...bytes));
  const reply = await rig.gateway.stream(request);
  const chunks = chunksOf(reply);
  expect([reply.status, reply.content]).toEqual([200, 'One']);
  expect(chunks.at(-1)!.router_metadata?.stream_end).toBe('cut');
});

it.each<[string, Buffer[], number, string]>([
  ['a damaged frame', [damaged(frames[0]!), ...frames.slice(1)], 503, 'provider_error'],
  ['no frames at all', [Buffer.from('<html>busy</html>')], 503, 'provider_error'],
  [
    'an exception of the provider',
    [exceptionFrame('internalServerException', '{"message":"x"}')],
    503,
    'provider_error',
  ],
  [
    'an exception about the request',
    [frames[0]!, exceptionFrame('validationException', '{"message":"Invalid input: é"}')],
    400,
    'invalid_request_error',
  ],
])('%s before any content is an ordinary answer', async (_, bytes, status, code) => {
  rig.upstream.reply(play(...bytes));
  const reply = await rig.gateway.stream(request);
  expect([reply.status, reply.json.error?.code], reply.text).toEqual([status, code]);
  if (status === 400) expect(reply.json.error?.message).toContain('Invalid input: é');
});
