import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { scaled } from '../../tests/support/scaled.js';
import { MemoryCounters } from '../cluster/memory.js';
import { envelopeOf, headersOf } from '../errors/envelope.js';
import { GatewayError } from '../errors/gateway-error.js';
import { exactPeersMax, IpLimiter, peerOf } from './rate-limits.js';

function limited(limit: number) {
  const clock = new ManualClock();
  const counters = new MemoryCounters(clock, { namesMax: exactPeersMax });
  return { clock, counters, limiter: new IpLimiter(limit, counters) };
}

function refusalOf(limiter: IpLimiter, address: string): GatewayError | null {
  try {
    limiter.take(address);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** The memory that is in use after a garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('the limit of requests from one address', () => {
  it('admits exactly the limit in a minute and refuses the next request with ip_rate_limited', () => {
    const { clock, limiter } = limited(3);
    for (let i = 0; i < 3; i++) limiter.take('192.0.2.1');
    clock.advance(18_700);
    const refusal = refusalOf(limiter, '192.0.2.1')!;
    expect(refusal.status).toBe(429);
    expect(envelopeOf(refusal).error).toMatchObject({ type: 'invalid_request_error', code: 'rate_limit_exceeded' });
    expect(headersOf(refusal)).toEqual({ 'retry-after': '42' });
    expect(refusal.message).toContain('More than 3 requests');
  });

  it('admits whoever waits for Retry-After, also after hammering until then', () => {
    const { clock, limiter } = limited(1);
    limiter.take('192.0.2.1');
    let seconds = 60;
    for (let i = 0; i < 59; i++) {
      expect(refusalOf(limiter, '192.0.2.1')!.extras.retryAfterSeconds).toBe(seconds--);
      clock.advance(1000);
    }
    clock.advance(1000);
    expect(refusalOf(limiter, '192.0.2.1')).toBeNull();
  });

  it('takes the forms of one address and the addresses of one /64 for one peer, and others for others', () => {
    const { limiter } = limited(1);
    limiter.take('192.0.2.1');
    limiter.take('2001:db8::1');
    for (const address of ['::ffff:192.0.2.1', '::ffff:c000:201', '2001:db8::2', '2001:db8:0:0:ffff::']) {
      expect(refusalOf(limiter, address)).not.toBeNull();
    }
    for (const address of ['192.0.2.2', '2001:db8:0:1::1']) expect(refusalOf(limiter, address)).toBeNull();
  });

  it('stays flat under 300,000 peers a minute, serves a new one, and frees none that is blocked', () => {
    const { clock, counters, limiter } = limited(8);
    for (let i = 0; i < 8; i++) limiter.take('203.0.113.9');
    const before = heldBytes();
    for (let minute = 0; minute < scaled(2, 3); minute++) {
      for (let i = 0; i < 300_000; i++) {
        limiter.take(`10.${(minute * 8 + (i >> 16)) & 255}.${(i >> 8) & 255}.${i & 255}`);
      }
      if (minute === 0) expect(refusalOf(limiter, '203.0.113.9')).not.toBeNull();
      expect(refusalOf(limiter, `2001:db8:${minute}::1`)).toBeNull();
      expect(counters.size).toBeLessThanOrEqual(2 * exactPeersMax);
      expect(heldBytes() - before).toBeLessThan(40e6);
      clock.advance(60_000);
    }
  });
});

describe('the peer that an address belongs to', () => {
  it.each([
    '192.0.2.17',
    '::ffff:192.0.2.17',
    '::FFFF:192.0.2.17',
    '::ffff:c000:211',
    '0:0:0:0:0:ffff:192.0.2.17',
    '0000:0000:0000:0000:0000:ffff:c000:0211',
    '64:ff9b::192.0.2.17',
    '64:ff9b::c000:211',
  ])('is one, however IPv4 is written: %s', (address) => expect(peerOf(address)).toBe('192.0.2.17'));

  it.each([
    '2001:db8:1:2::',
    '2001:db8:1:2::1',
    '2001:DB8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002:0000:0000:0000:0001',
    '2001:db8:1:2:3::4',
    '2001:db8:1:2::192.0.2.17',
    '2001:db8:1:2::1%eth0',
  ])('is the /64 of IPv6: %s', (address) => expect(peerOf(address)).toBe('2001:db8:1:2::/64'));

  it.each([
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8::5:0:0:0:1', '2001:db8:0:5::/64'],
    ['64:ff9b:1::c000:211', '64:ff9b:1:0::/64'],
    ['::ffff:0:192.0.2.17', '0:0:0:0::/64'],
  ])('keeps other networks apart: %s', (address, peer) => expect(peerOf(address)).toBe(peer));

  it('is the same one for everything that is no address', () => {
    const odd = [
      undefined,
      '',
      'unknown',
      '192.0.2',
      '192.0.2.017.1',
      '192.0.2.17:443',
      '2001:db8',
      '::ffff:1.2.3',
      '1::2::3',
    ];
    expect(new Set(odd.map(peerOf))).toEqual(new Set(['unreadable']));
  });
});
