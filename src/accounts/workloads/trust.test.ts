import { describe, expect, it } from 'vitest';
import { threadTime } from '../../../tests/support/thread-time.js';
import { matchesSubject } from './trust.js';

describe('matchesSubject', () => {
  it.each([
    ['repo:acme/app:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/*:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/*:ref:refs/heads/main', 'repo:acme/:ref:refs/heads/main', true],
    ['repo:acme/*', 'repo:acme/app:x', false],
    ['repo:acme/*', 'repo:acme/app/x', false],
    ['*', 'a:b', false],
    ['*', 'a', true],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['a*', 'ba', false],
    ['a**', 'a', true],
    ['a/*', 'a:b', false],
    ['A*', 'ab', false],
    ['a.c*', 'abcd', false],
    ['a', 'a:', false],
  ])('%s and %s: %s', (pattern, subject, matches) => {
    expect(matchesSubject(pattern, subject)).toBe(matches);
  });

  it('takes no longer for stars that almost match', () => {
    const pattern = `${'*a'.repeat(240)}b`;
    const started = threadTime().ranMs;
    expect(matchesSubject(pattern, 'a'.repeat(16_000))).toBe(false);
    expect(threadTime().ranMs - started).toBeLessThan(5_000);
  });
});
