import { beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { broken, expectReceipt, metadataOf, spent, useRouting } from '../../support/routing.js';
import { sse } from '../../support/scripted-upstream.js';
import { expectError } from '../harness.js';

const noon = '2026-01-15T12:00:00Z';
const clock = new ManualClock(noon);
const routing = useRouting({ clock });
beforeEach(() => clock.setWall(noon));

const last = 'tokens per day (TPD) limit reached (HTTP 429)';
const unavailable = { status: 503, type: 'provider_unavailable', code: 'model_unavailable', param: 'model' };

describe('a route whose daily quota is spent is held until midnight UTC', () => {
  it('auto/ is served by the next; the held route is not attempted again, not listed, and explained as quota_held', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    expect(await lane.listed()).toEqual([lane.pin('alpha'), lane.pin('beta'), lane.auto]);
    routing.on('alpha', spent);
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['alpha', 'beta']));
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['beta']));
    expect(routing.called).toEqual(['alpha', 'beta', 'beta']);
    expect(await lane.listed()).toEqual([lane.pin('beta'), lane.auto]);
    const { candidates, would_serve } = (await lane.explain()).json;
    expect(candidates.map(({ id, verdict }: Json) => [id, verdict])).toEqual([
      [lane.pin('alpha'), 'quota_held'],
      [lane.pin('beta'), 'eligible'],
    ]);
    expect(would_serve).toBe(lane.pin('beta'));
  });

  it('a pin of it is 503 provider_quota_exhausted with Retry-After to midnight, without a call', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.hold('alpha');
    clock.setWall('2026-01-15T23:00:00.001Z');
    expectError(await lane.chat({ model: lane.pin('alpha') }), {
      ...{ status: 503, type: 'provider_unavailable', code: 'provider_quota_exhausted', param: 'model' },
      ...{ says: ['alpha', lane.pin('alpha')], retryAfter: '3600' },
    });
    expect(routing.called).toEqual([]);
  });

  it('the last failure a quota: 503 provider_quota_exhausted with receipt and Retry-After; then model_unavailable', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', spent);
    routing.on('beta', spent);
    const reply = await lane.chat();
    expectReceipt(reply, 'provider_quota_exhausted', { attempted: ['alpha', 'beta'], last });
    expect(reply.headers['retry-after']).toBe('43200');
    expectError(await lane.chat(), { ...unavailable, says: ['quota'] });
    expect(routing.called).toEqual(['alpha', 'beta']);
    expect(await lane.listed()).toEqual([]);
    const explained = (await lane.explain()).json;
    expect([explained.would_serve, explained.error.error.code]).toEqual([null, 'model_unavailable']);
  });

  it('the same of a stream, in its first frame', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', broken);
    routing.on('beta', sse([{ error: { code: 429, message: 'tokens per day (TPD) limit reached' } }]));
    const receipt = { attempted: ['alpha', 'beta'], last: /tokens per day/ };
    expectReceipt(await lane.stream(), 'provider_quota_exhausted', receipt);
  });

  it('a quota that was not the last failure decides nothing', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', spent);
    routing.on('beta', broken);
    const receipt = { attempted: ['alpha', 'beta'], last: 'out of order (HTTP 500)' };
    expectReceipt(await lane.chat(), 'provider_error', receipt);
    expect((await lane.route('alpha')).hold).toEqual({ until: '2026-01-16T00:00:00.000Z', reason: 'upstream' });
  });

  it('returns at midnight, in the list and in the walk, not a millisecond before', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.hold('alpha');
    clock.setWall('2026-01-15T23:59:59.999Z');
    expect(await lane.listed()).toEqual([lane.pin('beta'), lane.auto]);
    expect((await lane.chat()).json.router_metadata.provider).toBe('beta');
    clock.setWall('2026-01-16T00:00:00.000Z');
    expect(await lane.listed()).toEqual([lane.pin('alpha'), lane.pin('beta'), lane.auto]);
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('a signal after midnight holds the new day', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.hold('alpha');
    clock.setWall('2026-01-16T00:00:01Z');
    routing.on('alpha', spent);
    await lane.chat();
    expect((await lane.route('alpha')).hold).toMatchObject({ until: '2026-01-17T00:00:00.000Z' });
  });

  it('an alias to a held pin leaves the list, an alias to auto/ stays while one route can serve', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const aliases = [await lane.alias('pin', lane.pin('alpha')), await lane.alias('auto', lane.auto)];
    const listed = async () => {
      const { data } = (await lane.call('GET', '/v1/models')).json;
      return data.map(({ id }: Json) => id).filter((id: string) => id.startsWith('alias/'));
    };
    expect(await listed()).toEqual(aliases);
    await lane.hold('alpha');
    expect(await listed()).toEqual(['alias/auto']);
    await lane.hold('beta');
    expect(await listed()).toEqual([]);
  });

  it('an operator lifts it: at once listed, and tried first again', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.hold('alpha');
    expect((await routing.gateway.admin('DELETE', `/routes/${lane.pin('alpha')}/hold`)).status).toBe(204);
    expect(await lane.listed()).toContain(lane.pin('alpha'));
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'alpha', ['alpha']));
  });
});

describe('a route’s own daily_token_quota', () => {
  it('is used up by its own traffic: the next request is served elsewhere; midnight gives it back', async () => {
    // 12 tokens an answer: the third one uses it up.
    const lane = await routing.lane({ alpha: { daily_token_quota: 30 }, beta: {} });
    const providers: string[] = [];
    for (let i = 0; i < 5; i++) providers.push((await lane.chat()).json.router_metadata.provider);
    expect(providers).toEqual(['alpha', 'alpha', 'alpha', 'beta', 'beta']);
    expect((await lane.route('alpha')).hold).toMatchObject({ reason: 'daily_token_quota' });
    expect(await lane.listed()).toEqual([lane.pin('beta'), lane.auto]);
    expect((await lane.chat({ model: lane.pin('alpha') })).json.error.code).toBe('provider_quota_exhausted');
    clock.setWall('2026-01-16T00:00:00Z');
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('streams count too, and exactly the quota is all of it', async () => {
    const lane = await routing.lane({ alpha: { daily_token_quota: 24 }, beta: {} });
    for (let i = 0; i < 2; i++) expect((await lane.stream()).status).toBe(200);
    expect((await lane.route('alpha')).hold).not.toBeNull();
    expect((await lane.chat()).json.router_metadata.provider).toBe('beta');
  });

  it('failed attempts use none of it', async () => {
    const lane = await routing.lane({ alpha: { daily_token_quota: 13 }, beta: {} });
    routing.on('alpha', broken);
    for (let i = 0; i < 4; i++) await lane.chat();
    routing.reset();
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
    expect((await lane.route('alpha')).hold).toBeNull();
  });

  it('that a reload of the catalogue brings counts the tokens of the day that are used already', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    for (let i = 0; i < 2; i++) expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
    await routing.withdraw(lane, { alpha: { daily_token_quota: 24 }, beta: {} });
    expect((await lane.route('alpha')).hold).toMatchObject({ reason: 'daily_token_quota' });
    expect((await lane.chat()).json.router_metadata.provider).toBe('beta');
  });

  it('every route’s quota used up: model_unavailable', async () => {
    const lane = await routing.lane({ alpha: { daily_token_quota: 1 }, beta: { daily_token_quota: 1 } });
    expect([(await lane.chat()).status, (await lane.chat()).status]).toEqual([200, 200]);
    expectError(await lane.chat(), { ...unavailable, says: ['quota'] });
  });
});
