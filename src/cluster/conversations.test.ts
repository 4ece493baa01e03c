import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { full, scaled } from '../../tests/support/scaled.js';
import { MemoryConversations } from './conversations.js';

const ttlMs = 300_000;

function opened(max?: number) {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  return { clock, conversations: new MemoryConversations(clock, ttlMs, max) };
}

/** After a garbage collection. */
function heapMb(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the routes of conversations', () => {
  it('are remembered until the time after the last turn is over', () => {
    const { clock, conversations } = opened();
    conversations.remember('a', 'route', 'account');
    clock.nowMs = ttlMs - 1;
    expect(conversations.recall('a')).toBe('route');
    conversations.remember('a', 'other', 'account');
    clock.nowMs += ttlMs - 1;
    expect(conversations.recall('a')).toBe('other');
    clock.nowMs++;
    expect(conversations.recall('a')).toBeNull();
  });

  it('are forgotten on demand', () => {
    const { conversations } = opened();
    conversations.remember('a', 'route', 'account');
    conversations.forget('a');
    expect(conversations.recall('a')).toBeNull();
  });

  it('are bounded, and the oldest go first', () => {
    const { conversations } = opened(100);
    for (let i = 0; i < 100; i++) conversations.remember(`c${i}`, 'route', 'account');
    conversations.remember('c0', 'route', 'account');
    for (let i = 100; i < 150; i++) conversations.remember(`c${i}`, 'route', 'account');
    expect(conversations.size).toBe(100);
    expect(['c0', 'c50', 'c51', 'c149'].map((name) => conversations.recall(name))).toEqual([
      ...['route', null, 'route', 'route'],
    ]);
  });

  it('of many conversations take the room of the most that are kept', () => {
    const kept = scaled(1_000, 100_000);
    const count = kept * 10;
    const { conversations } = opened(kept);
    const sizes: number[] = [];
    for (let i = 1; i <= count; i++) {
      const name = String(i).padStart(43, 'x');
      conversations.remember(name, `provider-${i % 7}/meta/llama/defra`, `account ${i % 1_000}`);
      if (i % kept === 0) sizes.push(conversations.size);
    }
    expect(new Set(sizes)).toEqual(new Set([kept]));
    expect(conversations.recall(String(count).padStart(43, 'x'))).not.toBeNull();
    expect(conversations.recall(String(count - kept).padStart(43, 'x'))).toBeNull();
    for (let i = count - kept + 1; i <= count; i++) conversations.forget(String(i).padStart(43, 'x'));
    expect([conversations.size, conversations.mayKnow('account 1')]).toEqual([0, false]);
  });

  it.skipIf(!full)('of a million conversations take no more memory than the first hundred thousand', () => {
    const { conversations } = opened();
    const heaps: number[] = [];
    for (let i = 1; i <= 1_000_000; i++) {
      conversations.remember(String(i).padStart(43, 'x'), 'acme/meta/llama/defra', `account ${i % 1_000}`);
      if (i % 100_000 === 0) heaps.push(heapMb());
    }
    console.log(`MB of heap after each hundred thousand conversations: ${heaps.join(', ')}`);
    expect(Math.max(...heaps.slice(1))).toBeLessThan(heaps[0]! * 1.25);
  });

  it.each([300_000, 60 * 86_400_000])(
    'are removed when the %i ms after their last turn are over, not found or found',
    (ttlMs) => {
      vi.useFakeTimers();
      const conversations = new MemoryConversations({ monotonicMs: () => performance.now() }, ttlMs);
      conversations.remember('a', 'route', 'account');
      vi.advanceTimersByTime(ttlMs / 2);
      conversations.remember('b', 'route', 'account');
      vi.advanceTimersByTime(ttlMs / 2 + 2_000);
      expect(conversations.size).toBe(1);
      vi.advanceTimersByTime(ttlMs / 2);
      expect([conversations.size, vi.getTimerCount()]).toEqual([0, 0]);
    },
  );

  it('knows which accounts have a conversation', () => {
    const { conversations } = opened(2);
    expect(conversations.mayKnow('account')).toBe(false);
    conversations.remember('a', 'route', 'account');
    conversations.remember('a', 'other', 'account');
    expect(conversations.mayKnow('account')).toBe(true);
    conversations.forget('a');
    expect(conversations.mayKnow('account')).toBe(false);
    for (const name of ['b', 'c', 'd']) conversations.remember(name, 'route', `account of ${name}`);
    expect(conversations.mayKnow('account of b')).toBe(false);
    expect(conversations.mayKnow('account of d')).toBe(true);
  });
});
