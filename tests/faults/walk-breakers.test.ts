/** Breakers through a running gateway: probes, cooldowns, and what never opens one. */
import { expect, it } from 'vitest';
import { ManualClock } from '../support/manual-clock.js';
import { broken, expectReceipt, metadataOf, rejecting, serving, useRouting } from '../support/routing.js';
import type { Script } from '../support/scripted-upstream.js';
import { scaled } from './fixture.js';

const clock = new ManualClock();
const routing = useRouting({ clock });

/** Does nothing until it is released, then what it is told. */
function waiting(): { script: Script; release(then: Script): void } {
  let release!: (then: Script) => void;
  const released = new Promise<Script>((resolve) => {
    release = resolve;
  });
  return { script: async (exchange) => (await released)(exchange), release };
}

it('a probe that ends in a client-caused 400 frees its slot and changes nothing: the next one is tried', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  await lane.open('alpha');
  clock.advance(30_000);
  routing.on('alpha', rejecting);
  for (let i = 0; i < 10; i++) {
    expect((await lane.chat()).status).toBe(400);
    expect((await lane.route('alpha')).breaker).toBe('half_open');
  }
  routing.reset();
  expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'alpha', ['alpha']));
  expect((await lane.route('alpha')).breaker).toBe('closed');
});

it('a probe whose client disconnected frees its slot', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  await lane.open('alpha');
  clock.advance(30_000);
  const { script } = waiting();
  routing.on('alpha', script);
  const leaving = new AbortController();
  const gone = routing.gateway.chat(lane.body(), { key: lane.key, signal: leaving.signal }).catch(() => 'gone');
  await routing.upstream.waitForCalls(1);
  leaving.abort();
  expect(await gone).toBe('gone');
  await routing.upstream.waitFor(() => routing.upstream.calls[0]!.aborted);
  routing.reset();
  expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
});

it('500 in parallel at the end of the cooldown: the upstream sees one probe, the others are served by the next', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  const count = 500;
  await lane.open('alpha');
  clock.advance(30_000);
  const probe = waiting();
  routing.on('alpha', probe.script);
  const replies = Array.from({ length: count }, () => lane.chat());
  await routing.upstream.waitForCalls(count);
  expect(routing.called.filter((name) => name === 'alpha')).toHaveLength(1);
  probe.release(serving);
  const providers = (await Promise.all(replies)).map(({ json }) => json.router_metadata?.provider);
  expect(providers.filter((name) => name === 'beta')).toHaveLength(count - 1);
  expect(providers.filter((name) => name === 'alpha')).toHaveLength(1);
  expect((await lane.route('alpha')).breaker).toBe('closed');
});

it('where there is no other route, the others get the receipt; a probe that fails lets nobody through', async () => {
  const lane = await routing.lane(['alpha']);
  await lane.open('alpha');
  clock.advance(30_000);
  const probe = waiting();
  routing.on('alpha', probe.script);
  const first = lane.chat();
  await routing.upstream.waitForCalls(1);
  const count = scaled(40, 100);
  const others = await Promise.all(Array.from({ length: count }, () => lane.chat()));
  for (const reply of others) {
    expectReceipt(reply, 'provider_error', { attempted: [], skipped: ['alpha/defra'], last: '' });
  }
  probe.release(broken);
  expectReceipt(await first, 'provider_error', { attempted: ['alpha'], last: 'out of order (HTTP 500)' });
  await Promise.all(Array.from({ length: count }, () => lane.chat()));
  expect(routing.called).toEqual(['alpha']);
});

it('never two probes at a time, over many cooldowns, and never stuck', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  await lane.open('alpha');
  for (let cycle = 0; cycle < scaled(6, 500); cycle++) {
    routing.reset();
    clock.advance(30_000);
    const probe = waiting();
    routing.on('alpha', probe.script);
    const replies = Array.from({ length: 8 }, () => lane.chat());
    await routing.upstream.waitForCalls(8);
    expect(routing.called.filter((name) => name === 'alpha')).toHaveLength(1);
    probe.release(broken);
    for (const { status } of await Promise.all(replies)) expect(status).toBe(200);
  }
  routing.reset();
  clock.advance(30_000);
  expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
});

it('a thousand rejections of the request cool nothing down: the route is still the first', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  routing.on('alpha', rejecting);
  const count = scaled(60, 1_000);
  for (let sent = 0; sent < count; sent += 20) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => lane.chat()));
    for (const { status } of replies) expect(status).toBe(400);
  }
  expect(new Set(routing.called)).toEqual(new Set(['alpha']));
  expect(routing.called).toHaveLength(count);
  routing.reset();
  expect((await lane.chat()).json.router_metadata).toEqual(metadataOf(lane, 'alpha', ['alpha']));
});

it('a pin is attempted while its breaker is open, also as the only route, and has no receipt', async () => {
  const lane = await routing.lane(['alpha']);
  await lane.open('alpha');
  routing.on('alpha', broken, serving);
  const failed = await lane.chat({ model: lane.pin('alpha') });
  expect([failed.status, failed.json.error.breaker_skipped]).toEqual([503, undefined]);
  expectReceipt(await lane.chat(), 'provider_error', { attempted: [], skipped: ['alpha/defra'], last: '' });
  expect((await lane.chat({ model: lane.pin('alpha') })).status).toBe(200);
  expect(routing.called).toEqual(['alpha', 'alpha']);
  expect((await lane.chat()).status).toBe(200);
});

it('an alias to a pin, and a pin in a chain, are attempted too', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  const alias = await lane.alias('mine', lane.pin('alpha'));
  await lane.open('alpha');
  await lane.open('beta');
  routing.on('alpha', broken);
  expect((await lane.chat({ model: alias })).status).toBe(503);
  const { json } = await lane.chat({ fallback: { models: [lane.pin('beta')] } });
  expect(json.router_metadata).toMatchObject({ provider: 'beta', breaker_skipped: ['alpha/defra', 'beta/frpar'] });
  expect(routing.called).toEqual(['alpha', 'beta']);
});

it.each([
  ['a pin', true],
  ['a walk', false],
])('a late success of %s that began before the breaker opened does not close it', async (_, pinned) => {
  const lane = await routing.lane(['alpha', 'beta']);
  const slow = waiting();
  routing.on('alpha', slow.script, broken);
  const model = pinned ? lane.pin('alpha') : lane.auto;
  const early = [lane.chat({ model })];
  await routing.upstream.waitForCalls(1);
  await lane.open('alpha');
  slow.release(serving);
  expect((await Promise.all(early)).map(({ status }) => status)).toEqual([200]);
  expect((await lane.route('alpha')).breaker).toBe('open');
  expect((await lane.chat()).json.router_metadata).toMatchObject({
    provider: 'beta',
    breaker_skipped: ['alpha/defra'],
  });
  routing.reset();
  expect((await lane.chat({ model: lane.pin('alpha') })).status).toBe(200);
  expect((await lane.route('alpha')).breaker).toBe('closed');
});
