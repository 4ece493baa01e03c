import { beforeEach, describe, expect, it } from 'vitest';
import { scrape, since } from '../../observability/scrape.js';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { sse, streamOf } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, expectError, messages, useGateway } from '../harness.js';

const retires = { date: '2026-10-16', source: 'their page', replaced_by: 'meta/plain' };
const clock = new ManualClock('2026-06-01T12:00:00Z');
const warnings: [object, string][] = [];
const quiet = () => {};
const bench = useGateway({
  clock,
  logger: { debug: quiet, info: quiet, error: quiet, warn: (...line) => void warnings.push(line) },
  models: [
    { ...model('ending', [route({ default: true })]), released: '2025-01-05', deprecated: '2026-05-01', retires },
    // One route ends, one ends later, and is the only one for a while.
    model('moving', [
      route({ default: true, retires: { date: '2026-10-16', source: 'their page' } }),
      route({ locode: 'frpar', retires: { date: '2026-12-01', source: 'their page', replaced_by: 'meta/plain' } }),
    ]),
    model('gone', [route({ retires: { date: '2026-01-31', source: 'their page' } })]),
  ],
});
const [early, soon, before, after] = [
  ...['2026-08-16T23:59:59.999Z', '2026-08-17T00:00:00Z', '2026-10-15T23:59:59.999Z', '2026-10-16T00:00:00Z'],
] as [string, string, string, string];
const pin = 'acme/meta/ending/defra';
const call = (method: string, path: string, body?: Json) => bench.gateway.call(method, path, body);
const chat = (id: string, more: Json = {}) => call('POST', '/v1/chat/completions', ask({ model: id, ...more }));
const listed = async () => (await call('GET', '/v1/models')).json.data as Json[];
const entry = async (id: string) => (await listed()).find((one) => one.id === id);
const refusal = { status: 404, type: 'not_found', code: 'model_retired', param: 'model' };

// A clock that goes back revives nothing by itself.
beforeEach(async () => {
  clock.setWall(before);
  await bench.gateway.admin('POST', '/catalogue/reload');
});

describe('the life of a model', () => {
  it('is listed: its release, its deprecation, its retirement and what replaces it', async () => {
    const life = {
      ...{ released: '2025-01-05', deprecated: '2026-05-01' },
      retires: { date: '2026-10-16', replaced_by: 'meta/plain' },
    };
    expect(await entry(pin)).toMatchObject(life);
    expect(await entry('auto/meta/ending')).toMatchObject(life);
    expect((await call('GET', `/v1/models/${pin}`)).json).toMatchObject(life);
    expect(await entry('acme/meta/llama/defra')).toMatchObject({ released: null, deprecated: null, retires: null });
  });

  it('of an auto/ id ends with the last of its routes', async () => {
    expect((await entry('auto/meta/moving'))?.retires).toEqual({ date: '2026-12-01', replaced_by: 'meta/plain' });
  });

  it('is in the answer from 60 days before the end, whole and streamed, and the metric counts it', async () => {
    const counted = await scrape(bench.gateway);
    const metadata = async (at: string, more: Json = {}) => {
      clock.setWall(at);
      return (await chat(pin, more)).json.router_metadata;
    };
    expect(await metadata(early)).not.toHaveProperty('retires');
    expect(await metadata(soon)).toMatchObject({ retires: { date: '2026-10-16', replaced_by: 'meta/plain' } });
    expect((await chat('acme/meta/llama/defra')).json.router_metadata).not.toHaveProperty('retires');
    bench.upstream.reply(sse(streamOf(['Hello'])));
    const streamed = await bench.gateway.stream(ask({ model: pin, stream: true }));
    const [last] = streamed.frames.flatMap(({ json }) => (json as Json | undefined)?.router_metadata ?? []).slice(-1);
    expect(last).toMatchObject({ retires: { date: '2026-10-16' } });
    expect(since(counted, await scrape(bench.gateway))).toMatchObject({
      [`lodestone_retiring_served_total{route="${pin}",account="${(await bench.gateway.account()).accountId}"}`]: 2,
    });
  });
});

describe('a retired route', () => {
  it('is served until the day begins, and refused with the date and the successor from then on, without a reload', async () => {
    expect((await chat(pin)).status).toBe(200);
    clock.setWall(after);
    const calls = bench.upstream.calls.length;
    for (const id of [pin, 'acme/meta/ending', 'auto/meta/ending']) {
      const says = ['2026-10-16', '"auto/meta/plain"', id];
      expectError(await chat(id), { ...refusal, says });
      expectError(await call('GET', `/v1/models/${id}`), { ...refusal, says });
    }
    expect(bench.upstream.calls.length).toBe(calls);
    expect((await listed()).filter(({ id }) => String(id).includes('ending'))).toEqual([]);
  });

  it('is not ranked, while the model is served elsewhere; a pin of it is refused', async () => {
    clock.setWall(after);
    for (let i = 0; i < 3; i++) {
      expect((await chat('auto/meta/moving')).json.model).toBe('acme/meta/moving/frpar');
    }
    expectError(await chat('acme/meta/moving'), { ...refusal, says: ['2026-10-16', 'GET /v1/models'] });
    const explained = (await call('POST', '/v1/routes/explain', { model: 'auto/meta/moving', messages })).json;
    expect(explained.candidates.map(({ id }: Json) => id)).toEqual(['acme/meta/moving/frpar']);
    clock.setWall('2026-12-01T00:00:00Z');
    expectError(await chat('auto/meta/moving'), { ...refusal, says: ['2026-12-01', '"auto/meta/plain"'] });
  });

  it('from the past is accepted with a warning', async () => {
    expectError(await chat('acme/meta/gone/defra'), { ...refusal, says: ['2026-01-31'] });
    const [warning] = warnings.filter(([, message]) => message.includes('past their retirement'));
    expect(warning?.[0]).toEqual({ routes: ['acme/meta/gone/defra (2026-01-31)'] });
  });

  it('behind an alias is refused with the same words, and cannot be given to a new one or to a chain', async () => {
    const named = await call('POST', '/v1/aliases', { name: 'old', target: 'auto/meta/ending' });
    expect(named.status).toBe(201);
    clock.setWall(after);
    expectError(await chat('alias/old'), { ...refusal, says: ['2026-10-16', '"auto/meta/plain"'] });
    expectError(await call('GET', '/v1/models/alias/old'), { ...refusal, says: ['2026-10-16'] });
    for (const target of ['auto/meta/ending', pin]) {
      const reply = await call('POST', '/v1/aliases', { name: 'new', target });
      expect([reply.status, reply.json.error.message]).toEqual([422, expect.stringContaining('retired on 2026-10-16')]);
    }
    const chained = await chat('acme/meta/llama/defra', { fallback: { models: [pin] } });
    expect([chained.status, chained.json.error.message]).toEqual([
      400,
      expect.stringContaining('retired on 2026-10-16'),
    ]);
  });

  it('is listed for operators, with the aliases and chains that lead to it, and so is one that retires soon', async () => {
    const { accountId, key } = await bench.gateway.createAccount({});
    const by = (method: string, path: string, body: Json) => bench.gateway.call(method, path, body, { key });
    await by('POST', '/v1/aliases', { name: 'one', target: 'auto/meta/ending' });
    await by('POST', '/v1/aliases', { name: 'two', target: 'auto/meta/plain' });
    await by('PUT', '/v1/fallback', { fallback: { models: [pin, 'auto/meta/plain'] } });
    const rows = async () => {
      const { data } = (await bench.gateway.admin('GET', '/catalogue/retirements')).json;
      const own = (names: Json[]) => names.filter((one) => one.account_id === accountId).map(({ name }) => name);
      return data.map(({ route: id, date, retired, names }: Json) => [id, date, retired, own(names as Json[])]);
    };
    const gone = ['acme/meta/gone/defra', '2026-01-31', true, []];
    const rest = [
      ['acme/meta/moving/defra', '2026-10-16', false, []],
      ['acme/meta/moving/frpar', '2026-12-01', false, []],
    ];
    expect(await rows()).toEqual([gone, [pin, '2026-10-16', false, [pin, 'alias/one']], ...rest]);
    clock.setWall(after);
    expect(await rows()).toContainEqual([pin, '2026-10-16', true, [pin, 'alias/one']]);
  });
});
