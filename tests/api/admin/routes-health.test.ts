import { beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { json } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, useGateway } from '../harness.js';

const clock = new ManualClock('2026-01-15T12:00:00Z');
/** A route of its own for each case. */
const names = ['a', 'b', 'c', 'd', 'e'];
const quota = { daily_token_quota: 30 };
const bench = useGateway({
  clock,
  models: [...names.map((name) => model(name, [route()])), model('limited', [route(quota)])],
});
let next = 0;
let id = '';

beforeEach(() => {
  clock.setWall('2026-01-15T12:00:00Z');
  id = `acme/meta/${names[next++]}/defra`;
});

async function shown(of = id): Promise<Json> {
  const { json: list } = await bench.gateway.admin('GET', '/routes');
  return list.data.find((one: Json) => one.id === of) as Json;
}

async function listed(of = id): Promise<boolean> {
  const { json: list } = await bench.gateway.call('GET', '/v1/models');
  return list.data.some((one: Json) => one.id === of);
}

async function metric(name: string, of = id): Promise<number | null> {
  const { status, text } = await bench.gateway.call('GET', '/metrics', undefined, { key: null });
  expect(status).toBe(200);
  const line = text.split('\n').find((one) => one.startsWith(`${name}{`) && one.includes(`route="${of}"`));
  return line ? Number(line.split(' ').at(-1)) : null;
}

const chat = async (of = id) => (await bench.gateway.chat(ask({ model: of }))).status;
const broken = json({ error: { message: 'broken' } }, { status: 500 });
const spent = json({ error: { message: 'Rate limit reached on tokens per day (TPD)' } }, { status: 429 });
const rejected = json({ error: { message: 'unsupported parameter', param: 'foo' } }, { status: 400 });

describe('GET /admin/v1/routes and GET /metrics follow what happens to a route', () => {
  it('latency and error rate from the first answer on; a rejection of the request leaves no mark', async () => {
    const unobserved = { breaker: 'closed', hold: null, latency_ms: null, error_rate: null };
    expect(await shown()).toMatchObject(unobserved);
    bench.upstream.reply(rejected);
    for (let i = 0; i < 10; i++) expect(await chat()).toBe(400);
    expect(await shown()).toMatchObject(unobserved);
    bench.upstream.reset();
    expect(await chat()).toBe(200);
    bench.upstream.reply(broken);
    expect(await chat()).toBe(503);
    expect(await shown()).toMatchObject({ breaker: 'closed', latency_ms: expect.any(Number), error_rate: 0.5 });
    expect(await metric('lodestone_route_recent_error_ratio')).toBe(0.5);
    expect(await metric('lodestone_route_recent_first_byte_seconds')).toEqual(expect.any(Number));
  });

  it('five failures open the breaker, the cooldown half-opens it, a pin’s success closes it', async () => {
    bench.upstream.reply(broken);
    for (let i = 0; i < 5; i++) expect(await chat()).toBe(503);
    expect((await shown()).breaker).toBe('open');
    expect(await metric('lodestone_route_breaker_state')).toBe(2);
    clock.advance(30_000);
    expect((await shown()).breaker).toBe('half_open');
    expect(await metric('lodestone_route_breaker_state')).toBe(1);
    bench.upstream.reset();
    expect(await chat()).toBe(200);
    expect((await shown()).breaker).toBe('closed');
    expect(await metric('lodestone_route_breaker_state')).toBe(0);
  });

  it('a daily quota that is spent holds the route at once: shown, not listed, not called; midnight frees it', async () => {
    bench.upstream.reply(spent);
    expect(await listed()).toBe(true);
    expect(await chat()).toBe(503);
    expect(await shown()).toMatchObject({
      hold: { until: '2026-01-16T00:00:00.000Z', reason: 'upstream' },
      breaker: 'closed',
      error_rate: null,
    });
    expect(await listed()).toBe(false);
    expect(await metric('lodestone_route_held')).toBe(1);
    bench.upstream.reset();
    expect(await chat()).toBe(503);
    expect(bench.upstream.calls).toHaveLength(0);
    clock.setWall('2026-01-16T00:00:00Z');
    expect((await shown()).hold).toBeNull();
    expect(await listed()).toBe(true);
    expect(await metric('lodestone_route_held')).toBe(0);
    expect(await chat()).toBe(200);
  });

  it('DELETE …/hold lifts it with 204 and is audited; 404 where there is none', async () => {
    const path = `/routes/${id}/hold`;
    expect((await bench.gateway.admin('DELETE', path)).status).toBe(404);
    bench.upstream.reply(spent);
    await chat();
    expect((await bench.gateway.admin('DELETE', path)).status).toBe(204);
    expect([(await shown()).hold, await listed()]).toEqual([null, true]);
    expect((await bench.gateway.admin('DELETE', path)).status).toBe(404);
    const { json: audit } = await bench.gateway.admin('GET', '/audit');
    const lifts = audit.data.filter(({ action, subject }: Json) => action === 'hold.lift' && subject === id);
    expect(lifts).toHaveLength(1);
    expect(await chat()).toBe(503);
    expect((await shown()).hold).not.toBeNull();
  });

  it('a route’s own daily_token_quota holds it when it is used up; lifted, it binds no more on that day', async () => {
    const limited = 'acme/meta/limited/defra';
    // 12 tokens an answer.
    for (const hold of [null, null, { until: '2026-01-16T00:00:00.000Z', reason: 'daily_token_quota' }]) {
      expect(await chat(limited)).toBe(200);
      expect((await shown(limited)).hold).toEqual(hold);
    }
    expect(await chat(limited)).toBe(503);
    expect(await listed(limited)).toBe(false);
    expect((await bench.gateway.admin('DELETE', `/routes/${limited}/hold`)).status).toBe(204);
    expect(await chat(limited)).toBe(200);
    expect((await shown(limited)).hold).toBeNull();
  });
});
