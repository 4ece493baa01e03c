import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PlayedCall } from '../../tests/support/upstream-call.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate'] }));
afterEach(() => void vi.useRealTimers());

const jsonText = '{"error":"queue full"}';
const streamText = 'data: a\n\ndata: done\n\n';
const encodings: [string, Buffer, Buffer][] = [
  ['gzip', gzipSync(jsonText), gzipSync(streamText)],
  ['br', brotliCompressSync(jsonText), brotliCompressSync(streamText)],
  ['deflate', deflateSync(jsonText), deflateSync(streamText)],
];

describe('a compressed answer', () => {
  it.each(encodings)('in %s is decoded: whole, refused, streamed', async (encoding, jsonBytes, streamBytes) => {
    const whole = new PlayedCall().head(200, ['content-encoding', encoding]);
    whole.data(jsonBytes);
    whole.end();
    expect(await whole.result).toMatchObject({ kind: 'answer', body: Buffer.from(jsonText) });

    const refused = new PlayedCall({ stream: true }).head(400, ['content-encoding', encoding]);
    for (const byte of jsonBytes) refused.data(Buffer.from([byte]));
    refused.end();
    expect(await refused.result).toMatchObject({ kind: 'refused', status: 400, body: Buffer.from(jsonText) });

    const streamed = new PlayedCall({ stream: true }).head(200, [
      'content-type',
      'text/event-stream',
      'content-encoding',
      encoding,
    ]);
    streamed.data(streamBytes);
    streamed.end();
    expect(await streamed.result).toMatchObject({ kind: 'stream', cleanly: true });
    expect(streamed.consumer.frames).toEqual(['a', 'done']);
  });

  it.each(encodings)('in %s that is broken is malformed and cut off', async (encoding) => {
    const played = new PlayedCall().head(200, ['content-encoding', encoding]);
    played.data('{"not":"compressed"}');
    played.end();
    expect(await played.result).toMatchObject({ kind: 'malformed', status: 200 });
    expect(played.deadlines.size).toBe(0);
  });

  it('pauses its upstream while the decoder is behind, and goes on when it has caught up', async () => {
    const bytes = gzipSync(randomBytes(100_000));
    const played = new PlayedCall().head(200, ['content-encoding', 'gzip']);
    expect(played.data(bytes)).toBe(false);
    expect(played.resumed).toBe(0);
    await vi.waitFor(() => expect(played.resumed).toBe(1), { timeout: 60_000 });
    played.end();
    expect(await played.result).toMatchObject({ kind: 'answer' });
  });

  it('is not decoded further while the caller is slow, and its upstream waits', async () => {
    const frame = `data: ${'x'.repeat(1_000)}\n\n`;
    const bytes = gzipSync(frame.repeat(1_000), { level: 0 });
    const played = new PlayedCall({ stream: true }).head(200, [
      ...['content-type', 'text/event-stream'],
      ...['content-encoding', 'gzip'],
    ]);
    played.consumer.slow = true;
    for (let at = 0; at < bytes.length; at += 65_536) played.data(bytes.subarray(at, at + 65_536));
    await vi.waitFor(() => expect(played.consumer.frames.length).toBeGreaterThan(0), { timeout: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(played.consumer.frames.length).toBeLessThan(100);
    expect(played.resumed).toBe(0);
    played.consumer.slow = false;
    played.consumer.resume();
    await vi.waitFor(() => expect(played.consumer.frames.length).toBe(1_000), { timeout: 60_000 });
    await vi.waitFor(() => expect(played.resumed).toBe(1), { timeout: 60_000 });
  });

  it.each([
    ['gzip', gzipSync('data: a\n\n', { finishFlush: constants.Z_SYNC_FLUSH })],
    ['br', brotliCompressSync('data: a\n\n', { finishFlush: constants.BROTLI_OPERATION_FLUSH } as object)],
  ])('in %s that breaks after a frame is a stream that breaks off', async (encoding, bytes) => {
    const played = new PlayedCall({ stream: true }).head(200, [
      ...['content-type', 'text/event-stream'],
      ...['content-encoding', encoding],
    ]);
    played.data(bytes);
    await vi.waitFor(() => expect(played.consumer.frames).toEqual(['a']), { timeout: 60_000 });
    played.data(Buffer.alloc(64, 0xff));
    expect(await played.result).toEqual({
      kind: 'stream',
      status: 200,
      cleanly: false,
      reason: 'its compressed body is broken',
    });
    expect(played.aborts).toBe(1);
  });

  it('in an encoding that nobody knows is malformed at once', async () => {
    const played = new PlayedCall().head(200, ['content-encoding', 'rot13']);
    expect(await played.result).toMatchObject({ kind: 'malformed', reason: expect.stringContaining('rot13') });
    expect(played.aborts).toBe(1);
  });
});
