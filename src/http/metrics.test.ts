import { describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';

const route = 'acme/meta/llama/defra';
const elsewhere = '203.0.113.7';

function scrape({ app }: HttpFixture, options: { remoteAddress?: string; headers?: Record<string, string> } = {}) {
  return app.inject({ url: '/metrics', remoteAddress: '127.0.0.1', ...options });
}

describe('GET /metrics (contract 9, ruling 15)', () => {
  it('tells breaker, hold, first byte and error rate of each route, and of the process', async () => {
    const fixture = await httpFixture();
    fixture.health.begin(route, false, true)!.succeeded(120);
    fixture.health.begin(route, false, true)!.failed(null);
    fixture.holds.hold('zeta/meta/llama/global', 'upstream');
    const answer = await scrape(fixture);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
    const lines = answer.body.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        `lodestone_route_breaker_state{route="${route}"} 0`,
        `lodestone_route_held{route="${route}"} 0`,
        'lodestone_route_held{route="zeta/meta/llama/global"} 1',
        `lodestone_route_first_byte_ms{route="${route}"} 120`,
        `lodestone_route_error_rate{route="${route}"} 0.5`,
        '# TYPE process_resident_memory_bytes gauge',
      ]),
    );
    expect(answer.body).not.toContain('lodestone_route_first_byte_ms{route="zeta');
    expect(lines.at(-1)).toBe('');
  });

  it('follows a breaker through open and half-open', async () => {
    const fixture = await httpFixture();
    for (let i = 0; i < 5; i++) fixture.health.begin(route, false, true)!.failed(null);
    const state = async () =>
      /breaker_state\{route="acme\/meta\/llama\/defra"\} (\d)/.exec((await scrape(fixture)).body)?.[1];
    expect(await state()).toBe('2');
    fixture.clock.advance(30_000);
    expect(await state()).toBe('1');
  });

  it('has no routes while there is no snapshot, and is answered while draining', async () => {
    const fixture = await httpFixture({
      catalogue: { current: null, reload: async () => ({ ok: false, faults: [] }) },
    });
    fixture.lifecycle.draining = true;
    const answer = await scrape(fixture);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain('lodestone_route');
    expect(answer.body).toContain('process_cpu_seconds_total');
  });

  it('no guard applies to it', async () => {
    const fixture = await httpFixture();
    fixture.place.code = 'CU';
    expect((await scrape(fixture)).statusCode).toBe(200);
  });

  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
    'answers the loopback peer %s',
    async (remoteAddress) => {
      expect((await scrape(await httpFixture(), { remoteAddress })).statusCode).toBe(200);
    },
  );

  it('a caller whom a trusted proxy on this host speaks for needs the token, whatever header names it', async () => {
    const fixture = await httpFixture();
    fixture.place.address = '203.0.113.7';
    expect((await scrape(fixture, { remoteAddress: '127.0.0.1' })).statusCode).toBe(401);
  });

  it.each([elsewhere, '::ffff:203.0.113.7', '2001:db8::1', '128.0.0.1', '10.127.0.1'])(
    '401 authentication_error for the peer "%s" without the admin token, 200 with it',
    async (remoteAddress) => {
      const fixture = await httpFixture();
      for (const headers of [{}, fixture.asKey, { authorization: 'Bearer wrong' }]) {
        const answer = await scrape(fixture, { remoteAddress, headers });
        expect(answer.statusCode).toBe(401);
        expect(answer.json().error).toMatchObject({ type: 'authentication_error', code: 'authentication_error' });
      }
      expect((await scrape(fixture, { remoteAddress, headers: fixture.asAdmin })).statusCode).toBe(200);
    },
  );

  it.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])(
    'a proxy on this host speaks for others: with %s the token is needed',
    async (name) => {
      const fixture = await httpFixture();
      const headers = { [name]: elsewhere };
      expect((await scrape(fixture, { headers })).statusCode).toBe(401);
      expect((await scrape(fixture, { headers: { ...headers, ...fixture.asAdmin } })).statusCode).toBe(200);
    },
  );
});
