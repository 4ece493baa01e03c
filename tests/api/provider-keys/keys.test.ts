/** Several keys of the operator at one provider, from outside: which key each call carries, and what its failures do. */
import { beforeEach, describe, expect, it } from 'vitest';
import { json, type Script } from '../../support/scripted-upstream.js';
import { generation } from '../harness.js';
import { clock, keyedRig, keyOf, limited, pin, prompt, rowOf, startAnew } from './rig.js';

const rig = keyedRig();

const spent = json(
  { error: { message: 'You have exceeded your quota of requests per day.', code: 'rate_limit_exceeded' } },
  { status: 429 },
);
const refused = (status: number) => json({ error: { message: 'Incorrect API key provided.' } }, { status });
const broken = json({ error: { message: 'boom' } }, { status: 500 });

/** What each key meets; any other key is served. */
const meets = (scripts: Record<string, Script>) => rig.upstream.onRequest((call) => scripts[keyOf(call)]);
const called = () => rig.upstream.calls.map(keyOf).join(' ');
const ask = (model = pin, more: object = {}) => rig.gateway.chat({ model, messages: prompt, ...more });
const metric = async (name: string, key: string, provider = 'pair') => {
  const { text } = await rig.gateway.call('GET', '/metrics', undefined, { key: null });
  return new RegExp(`^${name}\\{provider="${provider}",name="${key}"\\} (\\S+)$`, 'm').exec(text)?.[1];
};

beforeEach(() => startAnew(rig));

describe('a 429 of one key', () => {
  it('is followed by the next key on the same route; nothing counts against the route, and the key is held', async () => {
    rig.upstream.enqueue(limited());
    const reply = await ask();
    expect(reply.status).toBe(200);
    const [first, second] = rig.upstream.calls.map(keyOf);
    expect([first, second].sort()).toEqual(['a', 'b']);
    expect(reply.json.router_metadata).toMatchObject({
      ...{ provider: 'pair', providers_attempted: ['pair', 'pair'], fallback_occurred: false, breaker_skipped: [] },
    });
    const row = await rowOf(rig, pin);
    expect(row).toMatchObject({ breaker: 'closed', error_rate: 0, hold: null });
    expect(row.keys).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: first, state: 'held', reason: 'limited' }),
        expect.objectContaining({ name: second, state: 'ready', until: null, reason: null, running: 0 }),
      ]),
    );
    expect([
      await metric('lodestone_provider_key_held', first!),
      await metric('lodestone_provider_key_held', second!),
    ]).toEqual(['1', '0']);
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200);
    expect(called()).toBe([first, second, second, second, second].join(' '));
    clock.advance(10_000);
    for (let i = 0; i < 4; i++) expect((await ask()).status).toBe(200);
    expect(called().split(' ').slice(-4)).toContain(first);
  });

  it('holds it for the whole provider, as long as the provider says', async () => {
    meets({ a: limited({ 'retry-after': '120' }) });
    for (let i = 0; i < 2; i++) await ask();
    expect(
      called()
        .split(' ')
        .filter((name) => name === 'a'),
    ).toHaveLength(1);
    clock.advance(119_000);
    for (let i = 0; i < 3; i++) expect((await ask('pair/meta/other/defra')).status).toBe(200);
    expect(
      called()
        .split(' ')
        .filter((name) => name === 'a'),
    ).toHaveLength(1);
    clock.advance(1_000);
    for (let i = 0; i < 2; i++) await ask('pair/meta/other/defra');
    expect(
      called()
        .split(' ')
        .filter((name) => name === 'a'),
    ).toHaveLength(2);
  });

  it('leaves the generation with both attempts, and one bill', async () => {
    rig.upstream.enqueue(limited());
    const { json: body } = await ask();
    const record = await generation(rig.gateway, body.id as string);
    expect(record).toMatchObject({ fallback_occurred: false, provider: 'pair' });
    expect(record.attempts).toMatchObject([
      { provider: 'pair', outcome: 'rate_limit', status: 429 },
      { provider: 'pair', outcome: 'served', status: 200 },
    ]);
  });
});

describe('all keys held by rate limits', () => {
  it('the last 429 answers; then no call is made until the first may be used again', async () => {
    meets({ a: limited(), b: limited({ 'retry-after': '5' }) });
    const first = await ask();
    expect([first.status, first.json.error.code]).toEqual([503, 'provider_error']);
    expect(first.json.error.message).toContain('Rate limit reached for requests');
    expect(rig.upstream.calls).toHaveLength(2);
    const second = await ask();
    expect([second.status, second.json.error.code]).toEqual([503, 'provider_error']);
    expect(second.json.error.message).toContain('a rate limit holds all keys of pair');
    expect(rig.upstream.calls).toHaveLength(2);
    clock.advance(5_000);
    meets({});
    expect((await ask()).status).toBe(200);
    expect(keyOf(rig.upstream.calls[2]!)).toBe('b');
  });

  it('auto/ goes on to the next route, and only such a failure counts against the route', async () => {
    meets({ a: limited(), b: limited() });
    const reply = await ask('auto/meta/llama');
    expect(reply.json.router_metadata).toMatchObject({
      ...{ provider: 'spare', providers_attempted: ['pair', 'pair', 'spare'], fallback_occurred: true },
    });
    expect(await rowOf(rig, pin)).toMatchObject({ error_rate: expect.any(Number), breaker: 'closed' });
    for (let i = 0; i < 5; i++) expect((await ask('auto/meta/llama')).json.router_metadata.provider).toBe('spare');
    expect((await rowOf(rig, pin)).breaker).toBe('open');
    expect(rig.upstream.calls).toHaveLength(2);
  });
});

describe('a key that the provider refuses', () => {
  it.each([401, 403])('by %i is not used again until the next reload', async (status) => {
    meets({ a: refused(status) });
    for (let i = 0; i < 4; i++) expect((await ask()).status).toBe(200);
    clock.advance(3_600_000);
    for (let i = 0; i < 2; i++) expect((await ask()).status).toBe(200);
    expect(
      called()
        .split(' ')
        .filter((name) => name === 'a'),
    ).toHaveLength(1);
    expect(await rowOf(rig, pin)).toMatchObject({
      breaker: 'closed',
      keys: [{ name: 'a', state: 'refused' }, { name: 'b' }],
    });
    expect(await metric('lodestone_provider_key_refused', 'a')).toBe('1');
    meets({});
    await rig.gateway.admin('POST', '/catalogue/reload');
    for (let i = 0; i < 2; i++) await ask();
    expect(called().split(' ').slice(-2).sort().join(' ')).toBe('a b');
    expect(await metric('lodestone_provider_key_refused', 'a')).toBe('0');
  });

  it('as the last one: the provider answers once, then it is not configured', async () => {
    meets({ a: refused(401), b: refused(401) });
    const first = await ask();
    expect([first.status, first.json.error.code]).toEqual([503, 'provider_error']);
    const second = await ask();
    expect([second.status, second.json.error.code]).toEqual([503, 'provider_not_configured']);
    expect((await ask('auto/meta/llama')).json.router_metadata).toMatchObject({ providers_attempted: ['spare'] });
    expect(rig.upstream.calls).toHaveLength(2);
  });
});

describe('a spent daily quota', () => {
  it('holds its key until midnight UTC; of all keys it holds the route, which an operator can lift', async () => {
    clock.setWall('2026-03-01T22:00:00Z');
    meets({ a: spent });
    for (let i = 0; i < 4; i++) expect((await ask()).status).toBe(200);
    expect((await rowOf(rig, pin)).keys).toMatchObject([
      { name: 'a', state: 'held', reason: 'spent', until: '2026-03-02T00:00:00.000Z' },
      { name: 'b', state: 'ready' },
    ]);
    meets({ a: spent, b: spent });
    const last = await ask();
    expect([last.status, last.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
    const calls = rig.upstream.calls.length;
    const held = await ask();
    expect([held.status, held.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
    expect(held.headers['retry-after']).toBe('7200');
    expect(await rowOf(rig, pin)).toMatchObject({ hold: { until: '2026-03-02T00:00:00.000Z' } });
    const explained = await rig.gateway.call('POST', '/v1/routes/explain', { model: pin, messages: prompt });
    expect(explained.json.candidates[0]).toMatchObject({ verdict: 'quota_held' });
    expect(rig.upstream.calls).toHaveLength(calls);
    meets({});
    expect((await rig.gateway.admin('DELETE', `/routes/${pin}/hold`)).status).toBe(204);
    expect((await ask()).status).toBe(200);
  });

  it('of one beside the rate limit of another: the limit answers, and the key that is free again serves', async () => {
    clock.setWall('2026-03-03T10:00:00Z');
    meets({ a: limited({ 'retry-after': '10' }), b: spent });
    const reply = await ask();
    expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_error']);
    meets({ b: spent });
    clock.advance(10_000);
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200);
    clock.setWall('2026-03-04T00:00:00Z');
    meets({});
    for (let i = 0; i < 2; i++) expect((await ask()).status).toBe(200);
    expect(called().split(' ').slice(-2)).toContain('b');
  });
});

describe('other failures', () => {
  it('are the route\u2019s: no other key is tried, and they count', async () => {
    rig.upstream.reply(broken);
    expect((await ask()).status).toBe(503);
    expect(rig.upstream.calls).toHaveLength(1);
    expect(await rowOf(rig, pin)).toMatchObject({ error_rate: expect.any(Number) });
    const rejected = json({ error: { message: 'messages is too long' } }, { status: 400 });
    rig.upstream.reply(rejected);
    expect((await ask()).status).toBe(400);
    expect(rig.upstream.calls).toHaveLength(2);
  });

  it('a caller that leaves during an attempt ends it: no other key is tried, and nothing runs any more', async () => {
    const leaving = new AbortController();
    rig.upstream.reply(() => new Promise(() => {}));
    const gone = rig.gateway.chat({ model: pin, messages: prompt }, { signal: leaving.signal }).catch(() => 'gone');
    await rig.upstream.waitForCalls(1);
    leaving.abort();
    expect(await gone).toBe('gone');
    await rig.upstream.waitFor(() => rig.upstream.calls[0]!.aborted);
    await expect.poll(async () => (await rowOf(rig, pin)).keys).toMatchObject([{ running: 0 }, { running: 0 }]);
    expect(rig.upstream.calls).toHaveLength(1);
  });
});

describe('a credential of a customer', () => {
  async function customerWith(use: string, provider = 'pair') {
    const account = await rig.gateway.createAccount();
    const body = { provider, name: 'ours', use, secret: { api_key: 'key-customer' } };
    const made = await rig.gateway.admin('POST', `/accounts/${account.accountId}/credentials`, body);
    expect(made.status, made.text).toBe(201);
    return (model = pin) => rig.gateway.chat({ model, messages: prompt }, { key: account.key });
  }

  it('takes none of the keys, and its limit holds none', async () => {
    meets({ customer: limited({ 'retry-after': '120' }) });
    const askOwn = await customerWith('only');
    for (let i = 0; i < 3; i++) expect((await askOwn()).status).toBe(503);
    expect(called()).toBe('customer customer customer');
    expect(await rowOf(rig, pin)).toMatchObject({
      breaker: 'closed',
      keys: [
        { name: 'a', state: 'ready', running: 0 },
        { name: 'b', state: 'ready', running: 0 },
      ],
    });
    for (let i = 0; i < 2; i++) expect((await ask()).status).toBe(200);
    expect(called().split(' ').slice(3).sort().join(' ')).toBe('a b');
  });

  it('with `first` is followed by each of the keys, and serves a model that no key covers', async () => {
    meets({ customer: limited(), a: limited(), b: limited() });
    const reply = await (await customerWith('first'))();
    expect(reply.status).toBe(503);
    expect(rig.upstream.calls.map(keyOf).sort()).toEqual(['a', 'b', 'customer']);
    expect(keyOf(rig.upstream.calls[0]!)).toBe('customer');
    rig.upstream.reset();
    expect((await (await customerWith('last', 'partial'))('partial/meta/other/defra')).status).toBe(200);
    expect(called()).toBe('customer');
  });
});

describe('models of a key', () => {
  it('are the only ones that it is used for; a model that no key covers is not configured', async () => {
    for (let i = 0; i < 4; i++) expect((await ask('scoped/meta/llama/defra')).status).toBe(200);
    expect(called()).toBe('default first default first');
    rig.upstream.reset();
    for (let i = 0; i < 2; i++) expect((await ask('partial/meta/llama/defra')).status).toBe(200);
    expect(called()).toBe('only only');
    const reply = await ask('partial/meta/other/defra');
    expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_not_configured']);
    expect(await rowOf(rig, 'partial/meta/other/defra')).toMatchObject({ configured: false });
    expect(rig.upstream.calls).toHaveLength(2);
  });
});
