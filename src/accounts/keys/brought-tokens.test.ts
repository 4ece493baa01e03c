import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { MemoryCounters } from '../../cluster/memory.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { BroughtTokens, broughtTokenIn } from './brought-tokens.js';
import { hashToken } from './token.js';

function tokensOf(known: Record<string, string>) {
  const asked: string[] = [];
  const byHash = new Map(Object.entries(known).map(([token, id]) => [hashToken(token).toString('hex'), id]));
  const tokens = new BroughtTokens({
    store: {
      find: async (hash) => {
        asked.push(hash.toString('hex'));
        return byHash.get(hash.toString('hex')) ?? null;
      },
      any: async () => byHash.size > 0,
      bring: async () => new Set(),
      openingSince: async () => 0n,
    },
    guesses: new MemoryCounters(new ManualClock()),
    peerOf: (address) => address,
    refusalOf: (limit, resetMs) => gatewayError('ip_rate_limited', { limit, seconds: resetMs }),
    announce: async () => {},
  });
  return { tokens, asked };
}

describe('BroughtTokens', () => {
  it('asks the store once for a token that it finds, and again for one that it does not', async () => {
    const { tokens, asked } = tokensOf({ good: 'key-1' });
    expect([await tokens.find('good'), await tokens.find('bad'), await tokens.find('bad')]).toEqual([
      'key-1',
      null,
      null,
    ]);
    expect([tokens.idOf('good'), tokens.idOf('bad')]).toEqual(['key-1', undefined]);
    expect(asked).toHaveLength(3);
    tokens.forget('good');
    expect(tokens.idOf('good')).toBeUndefined();
  });

  it('one read answers many who ask for the same token at once', async () => {
    const { tokens, asked } = tokensOf({ good: 'key-1' });
    const found = await Promise.all(Array.from({ length: 50 }, () => tokens.find('good')));
    expect(new Set(found)).toEqual(new Set(['key-1']));
    expect(asked.length).toBeLessThanOrEqual(2);
  });
});

describe('broughtTokenIn', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['Bearer sk-bf-1', 'sk-bf-1'],
    [`Bearer ${'a'.repeat(512)}`, 'a'.repeat(512)],
    [`Bearer ${'a'.repeat(513)}`, null],
    ['Bearer sk-lr-abc', null],
    ['Bearer ', null],
    ['Bearer ä', null],
    ['bearer abc', null],
    [undefined, null],
  ])('%j', (header, token) => {
    expect(broughtTokenIn(header)).toBe(token);
  });
});
