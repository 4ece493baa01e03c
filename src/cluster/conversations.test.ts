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

  it('of many conversations take the room of a hundred thousand', () => {
    const { conversations } = opened();
    for (let i = 0; i < 300_000; i++) conversations.remember(`conversation ${i}`, 'route', 'account');
    expect(conversations.size).toBe(100_000);
  });

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
