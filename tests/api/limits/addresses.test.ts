/** The requests per minute of an address: the peer's own, or the one that a trusted proxy names. */
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.js';
import { ask, expectError, useGateway } from '../harness.js';
import { expectNoLimits } from './expect-headers.js';

const limit = 20;
const windowMs = 60_000;

describe('behind a trusted proxy', () => {
  const clock = new ManualClock();
  const bench = useGateway({
    clock,
    config: { server: { trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'] }, limits: { ip_requests_per_minute: limit } },
  });
  const from = (address: string, path = '/v1/nothing') =>
    bench.gateway.call('GET', path, undefined, { key: null, headers: { 'x-forwarded-for': address } });
  const useUp = async (address: string) => {
    const replies = await Promise.all(Array.from({ length: limit }, () => from(address)));
    expect(replies.map(({ status }) => status)).toEqual(Array(limit).fill(404));
  };
  const status = async (address: string) => (await from(address)).status;

  it('429 with its own error row, its type apart from a key’s, and without a key’s headers', async () => {
    await useUp('192.0.2.1');
    clock.advance(12_345);
    const { key } = await bench.gateway.account();
    const options = { key, headers: { 'x-forwarded-for': '192.0.2.1' } };
    for (const reply of [await bench.gateway.chat(ask(), options), await from('192.0.2.1', '/v1/key')]) {
      expectError(reply, {
        status: 429,
        type: 'invalid_request_error',
        code: 'rate_limit_exceeded',
        retryAfter: '48',
      });
      expectNoLimits(reply.headers);
    }
    expect(bench.upstream.calls).toHaveLength(0);
    clock.advance(47_000);
    expect(await status('192.0.2.1')).toBe(429);
    clock.advance(1_000);
    expect(await status('192.0.2.1')).toBe(404);
  });

  it.each(['/healthz', '/readyz'])('%s is exempt', async (path) => {
    await useUp('192.0.2.2');
    const replies = await Promise.all(Array.from({ length: 3 * limit }, () => from('192.0.2.2', path)));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
    clock.advance(windowMs);
  });

  it('/metrics is exempt, and does not use up anything', async () => {
    const replies = await Promise.all(Array.from({ length: 3 * limit }, () => from('192.0.2.4', '/metrics')));
    // A proxy speaks for others, so the token is asked for.
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([401]));
    expect(await status('192.0.2.4')).toBe(404);
  });

  it.each(['/', '/openapi.json', '/docs', '/dashboard', '/dashboard/api/anything', '/admin/v1/accounts', '/v1/models'])(
    '%s is not',
    async (path) => {
      await useUp('192.0.2.3');
      expect((await from('192.0.2.3', path)).status).toBe(429);
      clock.advance(windowMs);
    },
  );

  it('the addresses of one IPv6 /64 are one peer, those of the next are another', async () => {
    await useUp('2001:db8:1:2::1');
    for (const same of ['2001:db8:1:2::2', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '[2001:db8:1:2::9]:443']) {
      expect([same, await status(same)]).toEqual([same, 429]);
    }
    for (const other of ['2001:db8:1:3::1', '2001:db8:2:2::1']) {
      expect([other, await status(other)]).toEqual([other, 404]);
    }
  });

  it('an IPv4 address is one peer, however it is written', async () => {
    await useUp('198.51.100.1');
    for (const same of ['::ffff:198.51.100.1', '::ffff:c633:6401', '198.51.100.1:5000', '[::ffff:198.51.100.1]:1']) {
      expect([same, await status(same)]).toEqual([same, 429]);
    }
    expect(await status('198.51.100.2')).toBe(404);
  });

  it('the right-most address that is no proxy of ours counts; what a caller writes before it changes nothing', async () => {
    await useUp('198.51.100.7');
    for (let i = 0; i < 5; i++) {
      expect(await status(`203.0.113.${i}, 198.51.100.7`)).toBe(429);
      expect(await status(`203.0.113.${i}, 198.51.100.7, 10.1.2.3`)).toBe(429);
    }
  });

  it('a victim’s address in front of the caller’s own uses up nothing of the victim’s', async () => {
    const replies = await Promise.all(Array.from({ length: 5 * limit }, () => from('203.0.113.99, 198.51.100.66')));
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(4 * limit);
    expect(await status('203.0.113.99')).toBe(404);
  });

  it('wrong guesses of the admin token are limited as well', async () => {
    const guess = () =>
      bench.gateway.call('GET', '/admin/v1/accounts', undefined, {
        key: 'guess',
        headers: { 'x-forwarded-for': '192.0.2.77' },
      });
    const replies = await Promise.all(Array.from({ length: limit + 5 }, guess));
    expect(replies.filter((reply) => reply.status === 401)).toHaveLength(limit);
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(5);
  });
});

describe('without a trusted proxy', () => {
  const bench = useGateway({ clock: new ManualClock(), config: { limits: { ip_requests_per_minute: limit } } });

  it('no header names another peer: whatever is written, the connection’s address pays', async () => {
    const names = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip'];
    const send = (index: number) => {
      const name = names[index % names.length]!;
      const value = name === 'forwarded' ? `for=203.0.113.${index}` : `203.0.113.${index}`;
      return bench.gateway.call('GET', '/v1/nothing', undefined, { key: null, headers: { [name]: value } });
    };
    const replies = await Promise.all(Array.from({ length: 3 * limit }, (_, index) => send(index)));
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(2 * limit);
  });
});
