import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import {
  broken,
  expectReceipt,
  failing,
  limited,
  metadataOf,
  type Name,
  rejecting,
  useRouting,
} from '../../support/routing.js';
import { reset, type Script, sse, streamOf } from '../../support/scripted-upstream.js';

const clock = new ManualClock();
const routing = useRouting({ clock });

async function metric(route: string): Promise<number> {
  const { text } = await routing.gateway.call('GET', '/metrics', undefined, { key: null });
  const lines = text.split('\n').filter((one) => one.startsWith('lodestone_route_breaker_state{'));
  const line = lines.find((one) => one.includes(`route="${route}"`));
  return Number(line?.split(' ').at(-1));
}

const skip = { breaker_skipped: ['alpha/defra'] };
const last = 'out of order (HTTP 500)';

describe('a route’s breaker under auto/', () => {
  it('opens with the fifth counted failure, not the fourth; then the route is listed and not attempted', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', broken);
    for (let i = 1; i <= 5; i++) {
      expect((await lane.route('alpha')).breaker).toBe('closed');
      expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['alpha', 'beta']));
    }
    expect([(await lane.route('alpha')).breaker, await metric(lane.pin('alpha'))]).toEqual(['open', 2]);
    routing.reset();
    const reply = await lane.chat();
    expect(reply.json.router_metadata).toEqual(metadataOf(lane, 'beta', ['beta'], skip));
    expect((await lane.record(reply)).fallback_occurred).toBe(false);
    const frame = (await lane.stream()).frames[0]!.json as Json;
    expect(frame.router_metadata).toEqual(metadataOf(lane, 'beta', ['beta'], skip));
    expect(routing.called).toEqual(['beta', 'beta']);
  });

  it('is in the failure receipt, and counts as ruled out', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    await lane.open('beta');
    for (const name of ['alpha', 'gamma'] as Name[]) routing.on(name, broken);
    expectReceipt(await lane.chat(), 'provider_error', {
      attempted: ['alpha', 'gamma'],
      skipped: ['beta/frpar'],
      last,
    });
    expect(routing.called).toEqual(['alpha', 'gamma']);
  });

  it('failures that are further apart than the window do not open it', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', broken);
    for (let i = 0; i < 20; i++) {
      await lane.chat();
      clock.advance(7_600);
    }
    expect((await lane.route('alpha')).breaker).toBe('closed');
  });

  it('a success in between clears the count', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    for (let round = 0; round < 3; round++) {
      routing.on('alpha', broken);
      for (let i = 0; i < 4; i++) await lane.chat();
      routing.reset();
      expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
    }
    expect((await lane.route('alpha')).breaker).toBe('closed');
  });

  it('after the cooldown one request probes it; a success closes it', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha');
    clock.advance(29_999);
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['beta'], skip));
    clock.advance(1);
    expect([(await lane.route('alpha')).breaker, await metric(lane.pin('alpha'))]).toEqual(['half_open', 1]);
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'alpha', ['alpha']));
    expect([(await lane.route('alpha')).breaker, await metric(lane.pin('alpha'))]).toEqual(['closed', 0]);
  });

  it('a probe that fails opens it for another cooldown, and its request is served by the next', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha');
    clock.advance(30_000);
    routing.on('alpha', broken);
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['alpha', 'beta']));
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['beta'], skip));
    clock.advance(30_000);
    routing.reset();
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('the success of a pin closes it at once, while it is open', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha');
    expect((await lane.chat({ model: lane.pin('alpha') })).status).toBe(200);
    expect((await lane.route('alpha')).breaker).toBe('closed');
    expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'alpha', ['alpha']));
  });

  it('failures of a pin while it is open do not keep it open', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha');
    routing.on('alpha', broken);
    clock.advance(20_000);
    for (let i = 0; i < 10; i++) await lane.chat({ model: lane.pin('alpha') });
    clock.advance(10_000);
    routing.reset();
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('the Retry-After of the upstream lengthens it, and is not passed on', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha', failing(429, 'rate limit', { 'retry-after': '120' }));
    clock.advance(119_000);
    const reply = await lane.chat();
    expect([reply.json.router_metadata.provider, reply.headers['retry-after']]).toEqual(['beta', undefined]);
    clock.advance(1_000);
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('as a date it is held against the gateway’s clock', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const until = new Date(clock.now() + 120_000).toUTCString();
    await lane.open('alpha', failing(503, 'busy', { 'retry-after': until }));
    clock.advance(110_000);
    expect((await lane.chat()).json.router_metadata.provider).toBe('beta');
    clock.advance(10_000);
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('but not beyond ten cooldowns', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha', failing(503, 'busy', { 'retry-after': '86400' }));
    clock.advance(299_000);
    expect((await lane.chat()).json.router_metadata.provider).toBe('beta');
    clock.advance(1_000);
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('is the route’s, not the provider’s or the model’s', async () => {
    const lane = await routing.lane(['alpha', ['alpha', { locode: 'frpar', carbon: 344 }], 'beta']);
    await lane.open('alpha');
    expect((await lane.chat()).json.router_metadata).toMatchObject({ provider: 'alpha', locode: 'frpar', ...skip });
    const other = await routing.lane(['alpha']);
    expect((await other.chat()).status).toBe(200);
  });
});

describe('what counts against a route, and what does not', () => {
  it.each<[string, Script]>([
    ['HTTP 500', broken],
    ['HTTP 429', limited],
    ['a connection that is reset', reset()],
    ['bad credentials', failing(401, 'invalid api key')],
    ['a model that the upstream does not know', failing(404, 'the model `upstream-model` does not exist')],
  ])('%s opens it', async (_what, script) => {
    const lane = await routing.lane(['alpha']);
    await lane.open('alpha', script);
  });

  it.each<[string, Script]>([
    ['a rejection of the request', rejecting],
    ['a feature that is answered with 501', failing(501, 'this feature is not implemented')],
  ])('%s never does, nor does it clear the count', async (_what, script) => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', ...Array<Script>(4).fill(broken), script);
    for (let i = 0; i < 4; i++) await lane.chat();
    for (let i = 0; i < 25; i++) expect((await lane.chat()).status).toBe(400);
    expect((await lane.route('alpha')).breaker).toBe('closed');
    routing.on('alpha', broken);
    await lane.chat();
    expect((await lane.route('alpha')).breaker).toBe('open');
  });

  it('a caller that disconnects does not count', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse(streamOf(['one', ' two']), { keepOpen: true, noDone: true, gapMs: 5 }));
    for (let i = 0; i < 6; i++) {
      await routing.gateway.stream(lane.body(), { key: lane.key, hangUpAfter: 1 });
      await routing.upstream.waitFor(() => routing.upstream.calls.at(-1)!.aborted);
    }
    expect(await lane.route('alpha')).toMatchObject({ breaker: 'closed', error_rate: null });
  });

  it('a stream that is cut after its start counts, though it was a 200', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse(streamOf(['one'], { finishReason: null }), { cutAfter: 2, noDone: true }));
    for (let i = 0; i < 5; i++) expect((await lane.stream()).status).toBe(200);
    expect((await lane.route('alpha')).breaker).toBe('open');
  });
});
