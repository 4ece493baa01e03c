import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

let fixture: HttpFixture;

beforeEach(async () => {
  fixture = await httpFixture();
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function call(method: Method, path: string, payload?: object) {
  return fixture.app.inject({ method, url: `/admin/v1${path}`, headers: fixture.asAdmin, ...(payload && { payload }) });
}

const ofAccount = (path: string) => `/accounts/${fixture.account.id}${path}`;

describe('routes, models, catalogue, audit', () => {
  it('lists every route with its state', async () => {
    const { data } = (await call('GET', '/routes')).json();
    expect(data).toHaveLength(5);
    expect(data[0]).toEqual({
      ...{
        id: 'acme/meta/llama/defra',
        provider: 'acme',
        creator: 'meta',
        model: 'llama',
        locode: 'defra',
        default: true,
      },
      ...{
        configured: true,
        priced: true,
        model_state: 'available',
        breaker: 'closed',
        hold: null,
        latency_ms: null,
        error_rate: null,
      },
    });
    expect(data.find(({ id }: { id: string }) => id === 'bare/meta/llama/global').configured).toBe(false);
    expect(data.find(({ id }: { id: string }) => id === 'acme/meta/unpriced/global').priced).toBe(false);
  });

  it('shows breaker, hold, latency and error rate as they are observed', async () => {
    const id = 'acme/meta/llama/defra';
    fixture.health.begin(id, true, true)!.succeed(250);
    for (let i = 0; i < 5; i++) fixture.health.begin(id, true, true)!.fail(null);
    fixture.holds.hold(id, 'upstream');
    const shown = async () => (await call('GET', '/routes')).json().data[0];
    expect(await shown()).toMatchObject({
      ...{ id, breaker: 'open', latency_ms: 250, error_rate: 5 / 6 },
      hold: { until: '2026-01-16T00:00:00.000Z', reason: 'upstream' },
    });
    fixture.clock.advance(30_000);
    expect(await shown()).toMatchObject({ breaker: 'half_open' });
    fixture.clock.setWall('2026-01-16T00:00:00Z');
    expect(await shown()).toMatchObject({ hold: null });
  });

  it('lifts a hold with 204; 404 where there is none or no such route', async () => {
    const path = '/routes/acme/meta/llama/DEFRA/hold';
    expect((await call('DELETE', path)).statusCode).toBe(404);
    expect((await call('DELETE', '/routes/acme/meta/llama/jptyo/hold')).statusCode).toBe(404);
    fixture.holds.hold('acme/meta/llama/defra', 'upstream');
    expect((await call('DELETE', path)).statusCode).toBe(204);
    expect(fixture.holds.isHeld('acme/meta/llama/defra')).toBe(false);
    expect((await call('DELETE', path)).statusCode).toBe(404);
    const { data } = (await call('GET', '/audit?limit=1')).json();
    expect(data[0]).toMatchObject({ action: 'hold.lift', subject: 'acme/meta/llama/defra' });
  });

  it('500 where the store cannot take the lifting; the route stays held', async () => {
    fixture.holds.hold('acme/meta/llama/defra', 'upstream');
    fixture.store.away = true;
    expect((await call('DELETE', '/routes/acme/meta/llama/defra/hold')).statusCode).toBe(500);
    expect(fixture.holds.isHeld('acme/meta/llama/defra')).toBe(true);
  });

  it('sets a model’s availability; 400 and 404 for what is wrong', async () => {
    const path = '/models/meta/llama/availability';
    const answer = await call('PUT', path, { state: 'soft_disabled', reason: 'maintenance' });
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { object: 'model_availability', id: 'meta/llama', state: 'soft_disabled', reason: 'maintenance' },
    ]);
    expect(fixture.deps.modelStates.get('meta/llama')).toEqual({ state: 'soft_disabled', reason: 'maintenance' });
    expect((await call('PUT', path, { state: 'off' })).json().error).toMatchObject({ param: 'state' });
    expect((await call('PUT', '/models/meta/nothing/availability', { state: 'disabled' })).statusCode).toBe(404);
  });

  it('reloads the catalogue, or 422 with every fault', async () => {
    expect((await call('POST', '/catalogue/reload')).json()).toEqual({
      ...{ models: 2, routes: 5, providers: 3 },
      sandbox: { models: 0, routes: 0, providers: 0 },
    });
    fixture = await httpFixture({
      catalogue: { current: null, reload: async () => ({ ok: false, faults: ['a.yaml:1 x', 'b.yaml:2 y'] }) },
    });
    const answer = await call('POST', '/catalogue/reload');
    expect([answer.statusCode, answer.json().error.code]).toEqual([422, 'catalogue_invalid']);
    expect(answer.json().error.message).toContain('a.yaml:1 x\nb.yaml:2 y');
    expect((await call('GET', '/routes')).statusCode).toBe(503);
  });

  it('audits who did what, newest first', async () => {
    await call('PATCH', ofAccount(''), { status: 'suspended' });
    await call('PUT', '/models/meta/llama/availability', { state: 'disabled' });
    const { data } = (await call('GET', '/audit?limit=2')).json();
    expect(data.map(({ actor, action }: Record<string, string>) => [actor, action])).toEqual([
      ['operator', 'model.availability'],
      ['operator', 'account.update'],
    ]);
    expect(data[1]).toMatchObject({ subject: fixture.account.id, details: { status: 'suspended' } });
    expect((await call('GET', '/audit?limit=x')).statusCode).toBe(400);
  });
});
