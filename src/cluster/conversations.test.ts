import { describe, expect, it } from 'vitest';
import { MemoryConversations } from './conversations.js';

const ttlMs = 300_000;

function opened(max?: number) {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  return { clock, conversations: new MemoryConversations(clock, ttlMs, max) };
}

describe('the routes of conversations', () => {
  it('are remembered until the time after the last turn is over', () => {
    const { clock, conversations } = opened();
    conversations.remember('a', 'route');
    clock.nowMs = ttlMs - 1;
    expect(conversations.recall('a')).toBe('route');
    conversations.remember('a', 'other');
    clock.nowMs += ttlMs - 1;
    expect(conversations.recall('a')).toBe('other');
    clock.nowMs++;
    expect(conversations.recall('a')).toBeNull();
  });

  it('are forgotten on demand', () => {
    const { conversations } = opened();
    conversations.remember('a', 'route');
    conversations.forget('a');
    expect(conversations.recall('a')).toBeNull();
  });

  it('are bounded, and the oldest go first', () => {
    const { conversations } = opened(100);
    for (let i = 0; i < 100; i++) conversations.remember(`c${i}`, 'route');
    conversations.remember('c0', 'route');
    for (let i = 100; i < 150; i++) conversations.remember(`c${i}`, 'route');
    expect(conversations.size).toBe(100);
    expect(['c0', 'c50', 'c51', 'c149'].map((name) => conversations.recall(name))).toEqual([
      ...['route', null, 'route', 'route'],
    ]);
  });

  it('of many conversations take the room of a hundred thousand', () => {
    const { conversations } = opened();
    for (let i = 0; i < 300_000; i++) conversations.remember(`conversation ${i}`, 'route');
    expect(conversations.size).toBe(100_000);
  });
});
