import { describe, expect, it } from 'vitest';
import { threadTime } from '../../tests/support/thread-time.js';
import { idExcerpt, parseModelId } from './model-id.js';

describe('parseModelId', () => {
  it.each([
    ['acme/meta/llama', { kind: 'explicit', provider: 'acme', creator: 'meta', model: 'llama', locode: null }],
    ['acme/meta/llama/DEFRA', { kind: 'explicit', provider: 'acme', creator: 'meta', model: 'llama', locode: 'defra' }],
    [
      'acme/meta/llama/Global',
      { kind: 'explicit', provider: 'acme', creator: 'meta', model: 'llama', locode: 'global' },
    ],
    ['auto/meta/llama', { kind: 'auto', creator: 'meta', model: 'llama' }],
    ['AUTO/meta/llama', { kind: 'explicit', provider: 'AUTO', creator: 'meta', model: 'llama', locode: null }],
    ['autos/meta/llama', { kind: 'explicit', provider: 'autos', creator: 'meta', model: 'llama', locode: null }],
    ['alias/fast', { kind: 'alias', name: 'fast' }],
    ['alias/a/b', { kind: 'alias', name: 'a/b' }],
    ['alias/', { kind: 'alias', name: '' }],
    ['../x/y', { kind: 'explicit', provider: '..', creator: 'x', model: 'y', locode: null }],
    ['a%2fb/c/d', { kind: 'explicit', provider: 'a%2fb', creator: 'c', model: 'd', locode: null }],
    ['__proto__/a/b', { kind: 'explicit', provider: '__proto__', creator: 'a', model: 'b', locode: null }],
  ])('reads %j', (text, expected) => {
    expect(parseModelId(text)).toEqual(expected);
  });

  it.each([
    ['', 0, 'has 0 segments, but needs 3 or 4'],
    ['gpt-4o', 1, 'has 1 segment, but needs 3 or 4'],
    ['alias', 1, 'has 1 segment, but needs 3 or 4'],
    ['openai/gpt-4o', 2, 'has 2 segments, but needs 3 or 4'],
    ['a/b/c/d/e', 5, 'has 5 segments, but needs 3 or 4'],
    ['a/b/c/d/', 5, 'has 5 segments, but needs 3 or 4'],
    ['/b/c', 3, 'has 3 segments, but segment 1 of them is empty'],
    ['a//c', 3, 'has 3 segments, but segment 2 of them is empty'],
    ['a/b/', 3, 'has 3 segments, but segment 3 of them is empty'],
    ['a/b/c/', 4, 'has 4 segments, but segment 4 of them is empty'],
    ['//', 3, 'has 3 segments, but segment 1 of them is empty'],
    ['auto', 1, 'has 1 segment, but an auto/ id takes exactly 3 (it has no region)'],
    ['auto/x', 2, 'has 2 segments, but an auto/ id takes exactly 3 (it has no region)'],
    ['auto/a/b/c', 4, 'has 4 segments, but an auto/ id takes exactly 3 (it has no region)'],
    ['auto//b', 3, 'has 3 segments, but segment 2 of them is empty'],
  ])('refuses %j and states the count of its segments', (text, segments, reason) => {
    expect(parseModelId(text)).toEqual({ kind: 'invalid', segments, reason });
  });

  it('takes a megabyte of slashes or letters without effort', () => {
    const before = threadTime().ranMs;
    expect(parseModelId('/'.repeat(1_000_000))).toMatchObject({ kind: 'invalid', segments: 1_000_001 });
    expect(parseModelId('x'.repeat(1_000_000))).toMatchObject({ kind: 'invalid', segments: 1 });
    expect(threadTime().ranMs - before).toBeLessThan(5_000);
  });
});

describe('idExcerpt', () => {
  it('quotes at most about 100 characters and no control character', () => {
    expect(idExcerpt('acme/meta/llama')).toBe('acme/meta/llama');
    expect(idExcerpt('x'.repeat(1_000_000))).toHaveLength(101);
    expect(idExcerpt('a\r\nb\u0000')).toBe('a\ufffd\ufffdb\ufffd');
  });
});
