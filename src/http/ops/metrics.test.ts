import { afterAll, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture, singleProcess } from '../../../tests/support/http-fixture.js';
import { ProcessMeters } from '../../observability/metrics/process-meters.js';
import { prometheusText } from './metrics.js';

const route = 'acme/meta/llama/defra';
const elsewhere = '203.0.113.7';
const processMeters = new ProcessMeters();
afterAll(() => processMeters.stop());

function scrape({ app }: HttpFixture, options: { remoteAddress?: string; headers?: Record<string, string> } = {}) {
  return app.inject({ url: '/metrics', remoteAddress: '127.0.0.1', ...options });
}

describe('GET /metrics', () => {
  it('tells breaker, hold, first byte and error rate of each route, and of the process', async () => {
    const fixture = await httpFixture({ processMeters });
    fixture.health.begin(route, false, true)!.succeed(120);
    fixture.health.begin(route, false, true)!.fail(null);
    fixture.holds.hold('zeta/meta/llama/global', 'upstream');
    const answer = await scrape(fixture);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
    const lines = answer.body.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        `lodestone_route_breaker_state{route="${route}",model="meta/llama"} 0`,
        `lodestone_route_held{route="${route}",model="meta/llama"} 0`,
        'lodestone_route_held{route="zeta/meta/llama/global",model="meta/llama"} 1',
        `lodestone_route_available{route="${route}",model="meta/llama"} 1`,
        'lodestone_route_available{route="zeta/meta/llama/global",model="meta/llama"} 0',
        `lodestone_route_recent_first_byte_seconds{route="${route}"} 0.12`,
        `lodestone_route_recent_error_ratio{route="${route}"} 0.5`,
        '# TYPE process_resident_memory_bytes gauge',
      ]),
    );
    expect(answer.body).not.toContain('lodestone_route_recent_first_byte_seconds{route="zeta');
    // A route without a credential, or without a price, is nobody's outage.
    expect(answer.body).not.toMatch(/lodestone_route_available\{route="(bare|[^"]*unpriced)/);
    expect(lines.at(-1)).toBe('');
  });

  it('follows a breaker through open and half-open', async () => {
    const fixture = await httpFixture();
    for (let i = 0; i < 5; i++) fixture.health.begin(route, false, true)!.fail(null);
    const state = async () =>
      /breaker_state\{route="acme\/meta\/llama\/defra",model="meta\/llama"\} (\d)/.exec(
        (await scrape(fixture)).body,
      )?.[1];
    expect(await state()).toBe('2');
    fixture.clock.advance(30_000);
    expect(await state()).toBe('1');
  });

  it('has no routes while there is no snapshot, and is answered while draining', async () => {
    const fixture = await httpFixture({
      processMeters,
      catalogue: { current: null, reload: async () => ({ ok: false, faults: [] }) },
    });
    fixture.lifecycle.draining = true;
    const answer = await scrape(fixture);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain('lodestone_route');
    expect(answer.body).toContain('process_cpu_seconds_total');
  });

  it('tells the journal, Redis and the connections to upstreams, as far as there are any', async () => {
    const figures = () => ({
      depth: 3,
      oldestAt: 1_700_000_000_000,
      settled: 40,
      setAside: 1,
      damaged: 0,
      estimated: 2,
    });
    const fixture = await httpFixture({
      journal: { settled: async () => true, figures },
      deployment: { ...singleProcess, figures: () => ({ lodestone_redis_up: [{ labels: [], value: 0 }] }) },
      upstreamConnections: () => ({ open: 7, idle: 5 }),
    });
    fixture.clock.advance(1_700_000_090_000 - fixture.clock.now());
    const lines = (await scrape(fixture)).body.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        ...['lodestone_journal_records 3', 'lodestone_journal_oldest_seconds 90'],
        ...['lodestone_journal_settled_total 40', 'lodestone_journal_set_aside_total 1'],
        'lodestone_estimated_bills_total 2',
        'lodestone_redis_up 0',
        ...['lodestone_upstream_connections{state="busy"} 2', 'lodestone_upstream_connections{state="idle"} 5'],
      ]),
    );
    expect((await scrape(await httpFixture())).body).not.toMatch(/redis|journal/);
  });

  it('counts requests by the path that was registered, and unknown ones together (cardinality)', async () => {
    const fixture = await httpFixture();
    const get = (url: string) => fixture.app.inject({ url, headers: fixture.asKey });
    for (const id of ['one', 'two', 'three']) await get(`/v1/generation/${id}`);
    for (const path of ['/wp-admin', '/%00', '/v1/nothing']) await get(path);
    const { body } = await scrape(fixture);
    expect(body).toContain('lodestone_requests_total{endpoint="GET /v1/generation/:id",outcome="refused"} 3\n');
    expect(body).toContain('lodestone_requests_total{endpoint="unknown",outcome="refused"} 3\n');
    expect(body).toContain('lodestone_errors_total{condition="path_not_found",code="not_found",status="404"} 3\n');
    expect(body).not.toMatch(/wp-admin|three/);
  });

  it('tells whether PostgreSQL answers', async () => {
    const fixture = await httpFixture();
    expect((await scrape(fixture)).body).toContain('\nlodestone_postgres_up 1\n');
    fixture.store.ping = () => Promise.reject(new Error('away'));
    expect((await scrape(fixture)).body).toContain('\nlodestone_postgres_up 0\n');
  });

  it('takes the metrics token from elsewhere, which opens nothing else', async () => {
    const fixture = await httpFixture();
    const headers = { authorization: `Bearer ${fixture.deps.tokens.metrics}` };
    expect((await scrape(fixture, { remoteAddress: elsewhere, headers })).statusCode).toBe(200);
    expect((await scrape(fixture, { remoteAddress: elsewhere })).statusCode).toBe(401);
    const wrong = { authorization: `Bearer ${fixture.deps.tokens.metrics}x` };
    expect((await scrape(fixture, { remoteAddress: elsewhere, headers: wrong })).statusCode).toBe(401);
    for (const url of ['/admin/v1/accounts', '/v1/models', '/admin/v1/storage/check'])
      expect((await fixture.app.inject({ url, headers })).statusCode).toBe(401);
  });

  it('answers for all processes where there are several', async () => {
    const told: unknown[] = [];
    const fixture = await httpFixture({
      processMeters,
      siblings: async (own) => {
        told.push(own.lodestone_workers);
        return [{ lodestone_workers: [{ labels: [], value: 1 }], lodestone_open_streams: [{ labels: [], value: 9 }] }];
      },
    });
    fixture.deps.meters.openStreams = 2;
    const { body } = await scrape(fixture);
    expect(body).toContain('\nlodestone_workers 2\n');
    expect(body).toContain('\nlodestone_open_streams 11\n');
    expect(told).toEqual([[{ labels: [], value: 1 }]]);
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

const gauge = { name: 'one', help: '', type: 'gauge', labels: [] } as const;

describe('the Prometheus text format', () => {
  it('is help, type and one line a sample', () => {
    const samples = [
      { labels: ['a/b/c/d', 'x'], value: 0.25 },
      { labels: ['e', 'y'], value: 3 },
    ];
    expect(prometheusText([{ ...gauge, help: 'The first.', labels: ['route', 'kind'], samples }])).toBe(
      '# HELP one The first.\n# TYPE one gauge\none{route="a/b/c/d",kind="x"} 0.25\none{route="e",kind="y"} 3\n',
    );
  });

  it('writes a histogram as cumulative buckets, the last one without a bound, sum and count', () => {
    const samples = [{ labels: ['true'], value: 7.5, counts: [2, 0, 3] }];
    const family = { ...gauge, type: 'histogram', labels: ['stream'], bounds: [0.1, 2.5], samples } as const;
    expect(prometheusText([family])).toBe(
      '# HELP one \n# TYPE one histogram\none_bucket{stream="true",le="0.1"} 2\none_bucket{stream="true",le="2.5"} 2\n' +
        'one_bucket{stream="true",le="+Inf"} 5\none_sum{stream="true"} 7.5\none_count{stream="true"} 5\n',
    );
  });

  it('escapes backslash, quote and newline, so that no label can end its line', () => {
    const samples = [{ labels: ['a"\\\nb'], value: 1 }];
    expect(prometheusText([{ ...gauge, help: 'a\\b\nc "d"', labels: ['route'], samples }])).toBe(
      '# HELP one a\\\\b\\nc "d"\n# TYPE one gauge\none{route="a\\"\\\\\\nb"} 1\n',
    );
  });

  it('writes what is no finite number by its own names', () => {
    const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
    const samples = values.map((value) => ({ labels: [], value }));
    expect(prometheusText([{ ...gauge, samples }])).toContain('one +Inf\none -Inf\none NaN\n');
  });

  it('leaves out a family without samples', () => {
    expect(prometheusText([{ ...gauge, samples: [] }])).toBe('');
  });
});
