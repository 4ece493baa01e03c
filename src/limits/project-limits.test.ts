import { describe, expect, it } from 'vitest';
import { identityOf } from '../../tests/support/limited-identity.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryCounters } from '../cluster/memory.js';
import type { Counters } from '../cluster/ports.js';
import type { Identity } from '../domain/account.js';
import { GatewayError } from '../errors/gateway-error.js';
import { KeyLimiter, type Reservation } from './rate-limits.js';

/** Answers asynchronously, like shared state behind a network. */
function remote(counters: Counters): Counters {
  return {
    take: async (name, amount, limit) => {
      await Promise.resolve();
      return counters.take(name, amount, limit);
    },
    peek: (name) => counters.peek(name),
  };
}

function limited(requests = 100, tokens = 1000, reach: (counters: Counters) => Counters = (counters) => counters) {
  const clock = new ManualClock();
  const [requestCounters, tokenCounters] = [new MemoryCounters(clock), new MemoryCounters(clock)].map(reach);
  const defaults = { keyRequestsPerMinute: requests, keyTokensPerMinute: tokens };
  return { clock, limiter: new KeyLimiter(defaults, requestCounters!, tokenCounters!) };
}

function refusalOf(act: () => unknown): GatewayError | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const headerOf = (limiter: KeyLimiter, identity: Identity, name: string) =>
  limiter.headersOf(identity).find((_, i, headers) => headers[i - 1] === `x-ratelimit-${name}`);

describe('the limits of a project', () => {
  /** Two keys of one account, and so of its default project. */
  function twoKeys(limits: Partial<Identity['project']['limits']>, terms = {}): [Identity, Identity] {
    const first = identityOf('one', {}, terms);
    Object.assign(first.project.limits, limits);
    return [first, { ...first, key: { ...first.key, id: 'two' } }];
  }

  it.each([
    ['in memory', (counters: Counters) => counters],
    ['behind a network', remote],
  ])('are shared by its keys: exactly 100 of 1,000 requests pass, %s', async (_, reach) => {
    const { limiter } = limited(900, 1000, reach);
    const keys = twoKeys({ requestsPerMinute: 100 });
    const calls = Array.from({ length: 1000 }, (_, i) => limiter.countRequest(keys[i % 2]!));
    const outcomes = await Promise.all(calls);
    expect(outcomes.filter((refusal) => refusal === null)).toHaveLength(100);
    expect(outcomes.at(-1)!.message).toContain('project "default"');
  });

  it('a request that one of them refuses takes nothing from the other', () => {
    const { limiter } = limited(3, 1000);
    const [one, two] = twoKeys({ requestsPerMinute: 4 });
    for (let n = 0; n < 5; n++) void limiter.countRequest(one);
    expect(limiter.countRequest(two)).toBeNull();
    for (let n = 0; n < 5; n++) expect(limiter.countRequest(two)).not.toBeNull();
    one.project.limits.requestsPerMinute = 100;
    expect([1, 2, 3].map(() => limiter.countRequest(two))).toEqual([null, null, expect.anything()]);
  });

  it('tokens are taken from both or from neither, and both get the real usage', () => {
    const { limiter } = limited(100, 1000);
    const [one, two] = twoKeys({ tokensPerMinute: 1200 });
    const reservation = limiter.takeTokens(one, 900) as Reservation;
    expect(refusalOf(() => limiter.takeTokens(two, 400))?.message).toContain('project');
    expect(limiter.tokenRefusal(two, 400)?.message).toContain('project');
    expect(headerOf(limiter, two, 'remaining-tokens')).toBe('300');
    reservation.correct(100);
    expect(headerOf(limiter, one, 'remaining-tokens')).toBe('900');
    expect(refusalOf(() => limiter.takeTokens(two, 1000))).toBeNull();
    expect(refusalOf(() => limiter.takeTokens(one, 150))?.message).toContain('project');
    expect(refusalOf(() => limiter.takeTokens(one, 100))).toBeNull();
  });

  it('the headers show the one with the fewest remaining', () => {
    const { limiter } = limited(10, 1000);
    const [one, two] = twoKeys({ requestsPerMinute: 12 });
    for (let n = 0; n < 4; n++) void limiter.countRequest(one);
    expect([headerOf(limiter, one, 'limit-requests'), headerOf(limiter, one, 'remaining-requests')]).toEqual([
      '10',
      '6',
    ]);
    expect([headerOf(limiter, two, 'limit-requests'), headerOf(limiter, two, 'remaining-requests')]).toEqual([
      '12',
      '8',
    ]);
  });

  it('do not bound a management key of the whole account', () => {
    const { limiter } = limited(10, 1000);
    const [manager] = twoKeys({ requestsPerMinute: 1 }, { kind: 'management' });
    expect([1, 2, 3].map(() => limiter.countRequest(manager))).toEqual([null, null, null]);
  });
});
