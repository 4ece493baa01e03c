import { describe, expect, it } from 'vitest';
import { identityOf } from '../../tests/support/limited-identity.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { MemoryCounters } from '../cluster/memory.js';
import type { Counters } from '../cluster/ports.js';
import type { Identity } from '../domain/account.js';
import { envelopeOf, headersOf } from '../errors/envelope.js';
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

describe('the requests a minute of a key', () => {
  it.each([
    ['in memory', (counters: Counters) => counters],
    ['behind a network', remote],
  ])('are exactly 100 of 1,000 that come together, in each of 20 windows, %s', async (_, reach) => {
    const { clock, limiter } = limited(100, 1000, reach);
    const identity = identityOf('k');
    for (let window = 0; window < 20; window++) {
      const calls = Array.from({ length: 1000 }, async () => limiter.takeRequest(identity));
      const outcomes = await Promise.allSettled(calls);
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused).toHaveLength(900);
      const { retryAfterSeconds } = (refused[0]!.reason as GatewayError).extras;
      clock.advance(retryAfterSeconds! * 1000);
    }
  });

  it('refuse with key_rate_limited, which names the budget', () => {
    const { clock, limiter } = limited(1);
    const identity = identityOf('k');
    limiter.takeRequest(identity);
    clock.advance(59_999);
    const refusal = refusalOf(() => limiter.takeRequest(identity))!;
    expect(refusal.status).toBe(429);
    expect(envelopeOf(refusal).error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(refusal.message).toContain('requests budget of 1 a minute');
    expect(headersOf(refusal)).toEqual({ 'retry-after': '1' });
  });

  it('count as soon as the key is verified, while the refusal is thrown after other checks', () => {
    const { limiter } = limited(1);
    const identity = identityOf('k');
    expect(limiter.countRequest(identity)).toBeNull();
    expect(headerOf(limiter, identity, 'remaining-requests')).toBe('0');
    expect(limiter.countRequest(identity)).toBeInstanceOf(GatewayError);
  });

  it('are each key\u2019s own, also where the account sets them, and the account\u2019s win', () => {
    const { limiter } = limited(1);
    const first = identityOf('one', { requestsPerMinute: 2 });
    const second: Identity = { ...identityOf('two'), account: first.account };
    for (const identity of [first, second]) {
      limiter.takeRequest(identity);
      limiter.takeRequest(identity);
      expect(refusalOf(() => limiter.takeRequest(identity))).not.toBeNull();
    }
  });

  it('follow a change of the account\u2019s limits at once, however many were refused before', () => {
    const { limiter } = limited(2);
    const identity = identityOf('k');
    for (let i = 0; i < 50; i++) refusalOf(() => limiter.takeRequest(identity));
    identity.account.limits = { ...identity.account.limits, requestsPerMinute: 3 };
    expect(headerOf(limiter, identity, 'remaining-requests')).toBe('1');
    limiter.takeRequest(identity);
    identity.account.limits = { ...identity.account.limits, requestsPerMinute: 1 };
    expect(refusalOf(() => limiter.takeRequest(identity))!.message).toContain('budget of 1 a minute');
    expect(headerOf(limiter, identity, 'remaining-requests')).toBe('0');
  });
});

describe('limits of the key itself', () => {
  it('apply where they are below the account’s, in counts, headers and figures', () => {
    const { limiter } = limited(100, 1000);
    const own = identityOf('own', {}, { requestsPerMinute: 1, tokensPerMinute: 50 });
    expect(limiter.limitsOf(own)).toEqual({ requestsPerMinute: 1, tokensPerMinute: 50 });
    expect(headerOf(limiter, own, 'limit-tokens')).toBe('50');
    expect([limiter.countRequest(own), limiter.countRequest(own)]).toEqual([null, expect.any(GatewayError)]);
    const above = identityOf('above', { requestsPerMinute: 5 }, { requestsPerMinute: 7 });
    expect(limiter.limitsOf(above)).toEqual({ requestsPerMinute: 5, tokensPerMinute: 1000 });
  });
});

describe('the tokens a minute of a key', () => {
  const take = (limiter: KeyLimiter, identity: Identity, tokens: number) =>
    limiter.takeTokens(identity, tokens) as Reservation;

  it('are held by estimate and corrected by usage, down and up', () => {
    const { limiter } = limited(100, 1000);
    const identity = identityOf('k');
    take(limiter, identity, 600).correct(50);
    take(limiter, identity, 900).correct(2000);
    expect(refusalOf(() => limiter.takeTokens(identity, 1))?.message).toContain('tokens budget of 1000 a minute');
    expect(headerOf(limiter, identity, 'remaining-tokens')).toBe('0');
  });

  it('refuse what does not fit beside what is held, hold nothing for it, and admit it after Retry-After', () => {
    const { clock, limiter } = limited(100, 1000);
    const identity = identityOf('k');
    take(limiter, identity, 600);
    clock.advance(12_000);
    const refusal = refusalOf(() => limiter.takeTokens(identity, 401))!;
    expect(refusal.extras.retryAfterSeconds).toBe(48);
    take(limiter, identity, 400);
    clock.advance(48_000);
    expect(refusalOf(() => limiter.takeTokens(identity, 5000))).toBeNull();
  });

  it('can be asked whether they would refuse, which takes nothing (explain)', () => {
    const { limiter } = limited(100, 1000);
    const identity = identityOf('k');
    take(limiter, identity, 600);
    const refused = [400, 401].map((estimate) => limiter.tokenRefusal(identity, estimate)?.condition);
    expect([refused, headerOf(limiter, identity, 'remaining-tokens')]).toEqual([
      [undefined, 'key_rate_limited'],
      '400',
    ]);
  });

  it('have a window apart from the requests\u2019', () => {
    const { clock, limiter } = limited(2, 1000);
    const identity = identityOf('k');
    limiter.takeRequest(identity);
    clock.advance(40_000);
    take(limiter, identity, 1000);
    clock.advance(20_000);
    limiter.takeRequest(identity);
    limiter.takeRequest(identity);
    expect(refusalOf(() => limiter.takeTokens(identity, 1))!.extras.retryAfterSeconds).toBe(40);
    clock.advance(40_000);
    expect(refusalOf(() => limiter.takeTokens(identity, 1000))).toBeNull();
    expect(refusalOf(() => limiter.takeRequest(identity))!.message).toContain('requests');
  });

  it('are whole again after 5,000 aborted requests, at once and in the next window', () => {
    const { clock, limiter } = limited(100, 1000);
    const identity = identityOf('k');
    const late: Reservation[] = [];
    for (let i = 0; i < 5000; i++) {
      const reservation = take(limiter, identity, 1 + (i % 400));
      if (i % 1000 === 0 && late.length < 2) late.push(reservation);
      else reservation.cancel();
    }
    clock.advance(60_000);
    for (const reservation of late) reservation.cancel();
    expect(headerOf(limiter, identity, 'remaining-tokens')).toBe('1000');
    take(limiter, identity, 1000).cancel();
    take(limiter, identity, 1000);
    expect(refusalOf(() => limiter.takeTokens(identity, 1))).not.toBeNull();
  });

  it('settle once: the first of correct and cancel counts', () => {
    const { limiter } = limited(100, 1000);
    const identity = identityOf('k');
    const corrected = take(limiter, identity, 100);
    corrected.correct(300);
    corrected.correct(900);
    corrected.cancel();
    expect(headerOf(limiter, identity, 'remaining-tokens')).toBe('700');
    const cancelled = take(limiter, identity, 100);
    cancelled.cancel();
    cancelled.cancel();
    cancelled.correct(500);
    expect(headerOf(limiter, identity, 'remaining-tokens')).toBe('700');
  });

  it('let the estimate stand where the usage is no figure', () => {
    for (const tokens of [Number.NaN, -5, Number.POSITIVE_INFINITY]) {
      const { limiter } = limited(100, 1000);
      const identity = identityOf('k');
      take(limiter, identity, 100).correct(tokens);
      expect(headerOf(limiter, identity, 'remaining-tokens')).toBe('900');
    }
  });

  it('belong to the window that admitted them, when the usage comes after its end', () => {
    const { clock, limiter } = limited(100, 1000);
    const identity = identityOf('k');
    const long = take(limiter, identity, 500);
    clock.advance(60_000);
    take(limiter, identity, 400);
    long.correct(90_000);
    expect(headerOf(limiter, identity, 'remaining-tokens')).toBe('600');
  });

  it('are never held beyond the limit by more than one request, over any order of events', () => {
    forSeeds(40, (random) => {
      const { clock, limiter } = limited(100, 1000);
      const identity = identityOf('k');
      let held: { reservation: Reservation; tokens: number; windowEndsMs: number }[] = [];
      let windowEndsMs = 0;
      for (let step = 0; step < 300; step++) {
        if (random.chance(0.1)) clock.advance(random.below(40_000));
        const nowMs = clock.monotonicMs();
        const tokens = 1 + random.below(700);
        held = held.filter((entry) => entry.windowEndsMs > nowMs);
        const used = held.reduce((sum, entry) => sum + entry.tokens, 0);
        if (nowMs >= windowEndsMs) windowEndsMs = nowMs + 60_000;
        let reservation: Reservation | null = null;
        const refusal = refusalOf(() => {
          reservation = take(limiter, identity, tokens);
        });
        expect(refusal === null).toBe(used === 0 || used + tokens <= 1000);
        if (reservation) held.push({ reservation, tokens, windowEndsMs });
        if (held.length > 0 && random.chance(0.6)) held.splice(random.below(held.length), 1)[0]!.reservation.cancel();
      }
    });
  });
});

describe('the six headers', () => {
  it('are all there before the first request, with nothing used', () => {
    const { limiter } = limited(600, 1_000_000);
    expect(limiter.headersOf(identityOf('k'))).toEqual([
      'x-ratelimit-limit-requests',
      '600',
      'x-ratelimit-limit-tokens',
      '1000000',
      'x-ratelimit-remaining-requests',
      '600',
      'x-ratelimit-remaining-tokens',
      '1000000',
      'x-ratelimit-reset-requests',
      '0s',
      'x-ratelimit-reset-tokens',
      '0s',
    ]);
  });

  it.each([
    [0, '1m0s'],
    [1, '1m0s'],
    [1000, '59s'],
    [54_000, '6s'],
    [54_001, '6s'],
    [59_000, '1s'],
    [59_001, '999ms'],
    [59_988, '12ms'],
    [59_999.5, '1ms'],
    [60_000, '0s'],
  ])('say after %d ms that the window is over in %s, as OpenAI writes it', (ms, text) => {
    const { clock, limiter } = limited();
    const identity = identityOf('k');
    limiter.takeRequest(identity);
    limiter.takeTokens(identity, 10);
    clock.advance(ms);
    expect(headerOf(limiter, identity, 'reset-requests')).toBe(text);
    expect(headerOf(limiter, identity, 'reset-tokens')).toBe(text);
  });

  it('count down what remains', () => {
    const { limiter } = limited(3, 1000);
    const identity = identityOf('k', { tokensPerMinute: 500 });
    limiter.takeRequest(identity);
    limiter.takeTokens(identity, 120);
    const shown = ['remaining-requests', 'remaining-tokens', 'limit-tokens'].map((name) =>
      headerOf(limiter, identity, name),
    );
    expect(shown).toEqual(['2', '380', '500']);
  });
});
