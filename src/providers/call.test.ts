import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PlayedCall } from '../../tests/support/upstream-call.js';
import { answerBytesMax } from './call.js';
import { errorBytesMax } from './transport/response.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate'] }));
afterEach(() => void vi.useRealTimers());

describe('a whole answer', () => {
  it('is given as it came, piece by piece', async () => {
    const played = new PlayedCall().head();
    played.data('{"a"');
    played.data(':1}');
    played.end();
    expect(await played.result).toEqual({ kind: 'answer', status: 200, body: Buffer.from('{"a":1}') });
    expect([played.aborts, played.deadlines.size]).toEqual([0, 0]);
  });

  it('of no bytes is an answer too, for its reader to judge', async () => {
    const played = new PlayedCall().head(204);
    played.end();
    expect(await played.result).toEqual({ kind: 'answer', status: 204, body: Buffer.alloc(0) });
  });

  it('that is a stream is malformed (docs/decisions/0006)', async () => {
    const played = new PlayedCall().sse();
    played.data('data: a\n\n');
    played.end();
    expect(await played.result).toMatchObject({ kind: 'malformed', status: 200 });
  });

  it('over the cap is malformed and cut off', async () => {
    const played = new PlayedCall().head();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let given = 0; given <= answerBytesMax; given += piece.length) played.data(piece);
    expect(await played.result).toMatchObject({
      kind: 'malformed',
      reason: expect.stringContaining(String(answerBytesMax)),
    });
    expect(played.aborts).toBe(1);
  });

  it('of megabytes is one piece of memory, whatever its pieces were', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => `${at},`).join(''));
    const played = new PlayedCall().head();
    for (let at = 0; at < bytes.length; at += 50_000) played.data(bytes.subarray(at, at + 50_000));
    played.end();
    const result = await played.result;
    if (result.kind !== 'answer') throw new Error(`It was ${result.kind}.`);
    expect(result.body.equals(bytes)).toBe(true);
    expect(result.body.buffer.byteLength).toBe(bytes.length);
  });

  it('whose connection breaks in the middle is a failed connection', async () => {
    const played = new PlayedCall().head();
    played.data('{');
    played.fail('other side closed', 'UND_ERR_SOCKET');
    expect(await played.result).toEqual({
      kind: 'connection',
      status: 200,
      reason: 'other side closed (UND_ERR_SOCKET)',
      code: 'UND_ERR_SOCKET',
    });
  });
});

describe('a stream', () => {
  it('is given frame by frame, and is over when the consumer says so', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: a\n\ndata: b');
    expect(played.consumer.frames).toEqual(['a']);
    played.data('\n\ndata: done\n\ndata: late\n\n');
    expect(await played.result).toEqual({ kind: 'stream', status: 200, cleanly: true, reason: '' });
    expect(played.consumer.frames).toEqual(['a', 'b', 'done']);
  });

  it('that the upstream closes is over cleanly, its last frame included', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: a\n\ndata: b');
    played.end();
    expect(await played.result).toMatchObject({ kind: 'stream', cleanly: true });
    expect([played.consumer.frames, played.aborts, played.deadlines.size]).toEqual([['a', 'b'], 0, 0]);
  });

  it('that breaks is over, but not cleanly', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: a\n\n');
    played.fail('reset', 'ECONNRESET');
    expect(await played.result).toEqual({ kind: 'stream', status: 200, cleanly: false, reason: 'reset (ECONNRESET)' });
  });

  it('in which the consumer finds a failure is aborted', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: failed\n\ndata: late\n\n');
    expect(await played.result).toEqual({ kind: 'frame_failed', status: 200 });
    expect([played.aborts, played.consumer.frames]).toEqual([1, ['failed']]);
  });

  it('with a frame that never ends is cut', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    played.data('data: ');
    for (let i = 0; i < 20; i++) played.data(piece);
    expect(await played.result).toMatchObject({ kind: 'stream', cleanly: false });
    expect([played.aborts, played.consumer.frames]).toEqual([1, []]);
  });

  it.each([
    'data: a\n\ndata: done\n\n',
    '\n\ndata: a\n\ndata: done\n\n',
    ': hi\n\ndata: a\n\ndata: done\n\n',
    'event: x\ndata: a\n\ndata: done\n\n',
  ])('is known by its first bytes where its type is not named: %j', async (text) => {
    const played = new PlayedCall({ stream: true }).head();
    played.data(text);
    expect(await played.result).toMatchObject({ kind: 'stream', cleanly: true });
    expect(played.consumer.frames).toEqual(['a', 'done']);
  });

  it.each(['{"error":{"message":"no"}}', '', '<html>'])(
    'that is %j instead is malformed, with the body to look at',
    async (body) => {
      const played = new PlayedCall({ stream: true }).head(200, ['content-type', 'application/json']);
      if (body !== '') played.data(body);
      played.end();
      expect(await played.result).toMatchObject({ kind: 'malformed', status: 200, body: Buffer.from(body) });
    },
  );

  it('is resumed once when a slow caller reads on, and not when it is over', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.consumer.slow = true;
    expect(played.data('data: a\n\n')).toBe(false);
    played.consumer.resume();
    played.consumer.resume();
    expect(played.resumed).toBe(1);
    expect(played.data('data: b\n\n')).toBe(false);
    played.call.abandon();
    played.consumer.resume();
    expect([played.resumed, (await played.result).kind]).toEqual([1, 'gone']);
  });
});

describe('a refusal', () => {
  it.each([300, 301, 302, 307, 400, 401, 404, 429, 500, 503, 999])(
    'is any status outside of 2xx, a redirect too (%i)',
    async (status) => {
      for (const stream of [false, true]) {
        const played = new PlayedCall({ stream }).head(status, [
          'location',
          'http://elsewhere/',
          'content-type',
          'text/event-stream',
        ]);
        played.data('data: no\n\n');
        played.end();
        expect(await played.result).toMatchObject({ kind: 'refused', status, body: Buffer.from('data: no\n\n') });
        expect(played.consumer.frames).toEqual([]);
      }
    },
  );

  it('is read up to 64 KiB', async () => {
    const played = new PlayedCall().head(500);
    for (let i = 0; i < 40; i++) played.data(Buffer.alloc(50_000, 'x'));
    const result = await played.result;
    expect(result).toMatchObject({ kind: 'refused', status: 500 });
    expect(result.kind === 'refused' && result.body.length).toBe(errorBytesMax);
    expect(played.aborts).toBe(1);
  });

  it('whose connection breaks is still the refusal', async () => {
    const played = new PlayedCall().head(429);
    played.data('slow');
    played.fail('reset');
    expect(await played.result).toMatchObject({ kind: 'refused', status: 429, body: Buffer.from('slow') });
  });
});

describe('a call that is given up', () => {
  it('aborts once, whatever comes later', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: a\n\n');
    played.call.abandon();
    played.call.abandon();
    played.data('data: b\n\n');
    played.fail('aborted');
    played.end();
    expect(await played.result).toEqual({ kind: 'gone' });
    expect([played.aborts, played.consumer.frames, played.deadlines.size]).toEqual([1, ['a'], 0]);
  });

  it('before its head is aborted too', async () => {
    const played = new PlayedCall();
    played.call.abandon();
    expect([await played.result, played.aborts]).toEqual([{ kind: 'gone' }, 1]);
  });

  it('by its transport, before a head, is a failed connection', async () => {
    const played = new PlayedCall();
    played.fail('connect ECONNREFUSED', 'ECONNREFUSED');
    expect(await played.result).toEqual({
      kind: 'connection',
      status: null,
      reason: 'connect ECONNREFUSED (ECONNREFUSED)',
      code: 'ECONNREFUSED',
    });
  });
});
