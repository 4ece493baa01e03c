import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PlayedCall } from '../../tests/support/upstream-call.js';
import { tickMs } from './transport/deadlines.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate'] }));
afterEach(() => {
  vi.advanceTimersByTime(1_000);
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  expect(timers, 'no timer is left behind').toBe(0);
});

/** The coarse timer may be late by a tick, never early by more than one. */
function expectAbout(atMs: number, wantedMs: number): void {
  expect(atMs).toBeGreaterThanOrEqual(wantedMs - tickMs);
  expect(atMs).toBeLessThanOrEqual(wantedMs + 2 * tickMs);
}
const timeout = (budget: string, budgetMs: number, status: number | null = 200) => ({
  kind: 'timeout',
  budget,
  budgetMs,
  status,
});

describe('the first-byte budget', () => {
  it('ends a call that gets no head, connecting included', async () => {
    const played = new PlayedCall({ stream: true });
    expectAbout(played.passUntilOver(), 30_000);
    expect(await played.result).toEqual(timeout('first-byte', 30_000, null));
    expect(played.aborts).toBe(1);
  });

  it('is less by what the attempt has spent before the call, and is named whole', async () => {
    const played = new PlayedCall({ stream: true, spentMs: 9_000 });
    expectAbout(played.passUntilOver(), 21_000);
    expect(await played.result).toEqual(timeout('first-byte', 30_000, null));
  });

  it('is not met by a head, nor by comments of any form', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    for (let i = 0; i < 29; i++) {
      played.data(': PROCESSING\n\n');
      played.data(':\n\ndata: : keepalive\n\n');
      played.pass(1_000);
    }
    expectAbout(played.passUntilOver(), 30_000);
    expect(await played.result).toEqual(timeout('first-byte', 30_000));
    expect([played.consumer.frames, played.call.firstByteAtMs]).toEqual([[], null]);
  });

  it('is met by the first data frame, whose time is kept', () => {
    const played = new PlayedCall({ stream: true }).sse().pass(29_000);
    played.data('data: a\n\n');
    expect(played.call.firstByteAtMs).toBe(29_000);
    played.pass(60_000);
    expect(played.deadlines.size).toBe(1);
    played.call.abandon();
  });

  it('of a JSON answer is not met by blank lines that keep the connection alive (wire pitfall 1)', async () => {
    const played = new PlayedCall({ firstByteMs: 150_000 }).head();
    for (let i = 0; i < 14; i++) {
      played.data('\n\r\n ');
      played.pass(10_000);
    }
    expectAbout(played.passUntilOver(), 150_000);
    expect(await played.result).toEqual(timeout('first-byte', 150_000));
  });

  it('of a JSON answer is met by its first byte; then only the overall budget runs', async () => {
    const played = new PlayedCall({ firstByteMs: 150_000 }).head().pass(140_000);
    played.data('\n{');
    played.pass(150_000);
    played.data('}');
    played.end();
    expect(await played.result).toMatchObject({ kind: 'answer', body: Buffer.from('\n{}') });
    expect(played.call.firstByteAtMs).toBe(140_000);
  });
});

describe('the stream-idle budget', () => {
  it('runs between data frames; comments are no progress', async () => {
    const played = new PlayedCall({ stream: true }).sse().pass(10_000);
    played.data('data: a\n\n');
    for (let i = 0; i < 8; i++) {
      played.pass(10_000);
      played.data(': still here\n\n');
    }
    expectAbout(played.passUntilOver(), 100_000);
    expect(await played.result).toEqual(timeout('stream-idle', 90_000));
    expect(played.aborts).toBe(1);
  });

  it('starts anew with each frame', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    for (let i = 0; i < 3; i++) {
      played.data(`data: ${i}\n\n`);
      played.pass(80_000);
    }
    expect(played.deadlines.size).toBe(1);
    expectAbout(played.passUntilOver(), 160_000 + 90_000);
    expect(await played.result).toEqual(timeout('stream-idle', 90_000));
  });

  it('does not run while the caller is slow, and starts anew when it is not', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.consumer.slow = true;
    expect(played.data('data: a\n\n')).toBe(false);
    played.pass(150_000);
    expect(played.deadlines.size).toBe(1);
    played.consumer.slow = false;
    played.consumer.resume();
    expect(played.resumed).toBe(1);
    expectAbout(played.passUntilOver(), 150_000 + 90_000);
    expect(await played.result).toEqual(timeout('stream-idle', 90_000));
  });
});

describe('the overall budget', () => {
  it('ends a stream that drips for ever', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    while (played.deadlines.size > 0) {
      played.data('data: a\n\n');
      played.pass(10_000);
    }
    expectAbout(Math.min(played.clock.monotonicMs(), 300_000), 300_000);
    expect(await played.result).toEqual(timeout('overall', 300_000));
  });

  it('ends a call whose caller never reads on', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.consumer.slow = true;
    played.data('data: a\n\n');
    expectAbout(played.passUntilOver(), 300_000);
    expect(await played.result).toEqual(timeout('overall', 300_000));
  });

  it('is named whole, also where only a rest of it was left and that was less than the first-byte budget', async () => {
    const played = new PlayedCall({ firstByteMs: 150_000, overallMs: 20_000 });
    expectAbout(played.passUntilOver(), 20_000);
    expect(await played.result).toEqual(timeout('overall', 300_000, null));
  });

  it('ends a JSON body that never ends', async () => {
    const played = new PlayedCall().head();
    played.data('{');
    expectAbout(played.passUntilOver(), 300_000);
    expect(await played.result).toEqual(timeout('overall', 300_000));
  });
});

describe('an error body that never ends', () => {
  it('is waited for shortly; what came of it is the refusal', async () => {
    const played = new PlayedCall({ stream: true }).pass(5_000).head(500);
    played.data('queue full');
    expectAbout(played.passUntilOver(), 7_000);
    expect(await played.result).toMatchObject({ kind: 'refused', status: 500, body: Buffer.from('queue full') });
    expect(played.aborts).toBe(1);
  });

  it('does not outlive the overall budget', async () => {
    const played = new PlayedCall({ overallMs: 6_000 }).pass(5_000).head(500);
    expectAbout(played.passUntilOver(), 6_000);
    expect(await played.result).toEqual(timeout('overall', 300_000, 500));
  });
});

describe('after the last frame', () => {
  it('the result is there at once, the upstream may still close, and then is not aborted', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: a\n\ndata: done\n\n');
    expect(await played.result).toEqual({ kind: 'stream', status: 200, cleanly: true, reason: '' });
    expect(played.data('data: late\n\n')).toBe(true);
    played.pass(100).end();
    played.pass(1_000);
    expect([played.aborts, played.deadlines.size, played.consumer.frames]).toEqual([0, 0, ['a', 'done']]);
  });

  it('that may be the last, another one is still read, but not waited for longer than a moment', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: ending\n\n');
    played.pass(200).data('data: ending\n\n');
    played.pass(200).data('data: a\n\n');
    played.pass(80_000).data('data: ending\n\n');
    expectAbout(played.passUntilOver(), 80_650);
    expect(played.consumer.frames).toEqual(['ending', 'ending', 'a', 'ending']);
    expect(await played.result).toMatchObject({ kind: 'timeout', status: 200 });
  });

  it('an upstream that stays open is aborted soon', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: done\n\n');
    await played.result;
    played.pass(200);
    expect(played.aborts).toBe(0);
    played.pass(100);
    expect([played.aborts, played.deadlines.size]).toEqual([1, 0]);
  });

  it('a caller that leaves meanwhile changes nothing', async () => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data('data: done\n\n');
    played.call.abandon();
    expect((await played.result).kind).toBe('stream');
    played.pass(1_000);
    expect(played.aborts).toBe(1);
  });
});
