/** The catalogue is swapped all the time under load; each request sees one snapshot. */
import { expect, it } from 'vitest';
import { costOf, failing, modelOf, type Name, routingCatalogue, useRouting } from '../support/routing.js';
import { completion, json } from '../support/scripted-upstream.js';
import { pause, pico, scaled } from './fixture.js';

const routing = useRouting({ config: { breaker: { failures: 1_000_000 } } });

const refusing = json({ error: { message: 'out of order' } }, { status: 500, delayMs: 15 });
const answering = json(completion(), { delayMs: 5 });
const ways: Record<string, readonly [Name, Name]> = { alpha: ['alpha', 'beta'], gamma: ['gamma', 'delta'] };

it('a walk never mixes two catalogues, none fails, and each is billed by the prices of its own', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  const { gateway, upstream } = routing;
  routing.on('alpha', refusing);
  routing.on('gamma', refusing);
  routing.on('beta', answering);
  routing.on('delta', answering);
  const catalogues = Object.values(ways).map((routes) => routingCatalogue(upstream.url, [modelOf(lane.model, routes)]));
  const wanted = scaled(20, 500);
  let flips = 0;
  const flipping = (async () => {
    while (flips < wanted) {
      // A hundred a second, where the machine is up to it.
      const nextAt = performance.now() + 10;
      gateway.files.writeCatalogue(catalogues[++flips % 2]!);
      expect((await gateway.admin('POST', '/catalogue/reload')).status).toBe(200);
      await pause(Math.max(0, nextAt - performance.now()));
    }
  })();
  const seen: string[] = [];
  const callers = Array.from({ length: scaled(5, 10) }, async () => {
    while (flips < wanted) {
      const reply = await lane.chat();
      expect(reply.status, reply.text).toBe(200);
      const { providers_attempted, provider } = reply.json.router_metadata;
      expect(providers_attempted).toEqual(ways[providers_attempted[0]]);
      seen.push(provider);
    }
  });
  await Promise.all([flipping, ...callers]);
  expect(new Set(seen)).toEqual(new Set(['beta', 'delta']));
  const charged = (await gateway.admin('GET', `/accounts/${lane.account.accountId}/ledger?limit=100000`)).json.data;
  expect(charged.filter(({ kind }: { kind: string }) => kind === 'usage')).toHaveLength(seen.length);
  const spent = seen.reduce((sum, name) => sum + costOf(name as Name), 0n);
  expect(pico('10.00') - pico(await gateway.balance(lane.account.accountId))).toBe(spent);
});

it('a model that is withdrawn while its walk is under way is walked to its end; the next request is a 404', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  const slow = json({ error: { message: 'out of order' } }, { status: 500, delayMs: 300 });
  routing.on('alpha', slow);
  const reply = lane.chat();
  await routing.upstream.waitForCalls(1);
  await routing.withdraw(lane);
  expect((await reply).json.router_metadata.providers_attempted).toEqual(['alpha', 'beta']);
  expect((await lane.chat()).status).toBe(404);
});

it('a route that leaves and comes back starts again: its breaker is closed', async () => {
  const lane = await routing.lane(['alpha', 'beta']);
  routing.on('alpha', failing(500, 'out of order'));
  await lane.chat();
  expect((await lane.route('alpha')).error_rate).toBe(1);
  await routing.withdraw(lane, ['beta']);
  await routing.withdraw(lane, ['alpha', 'beta']);
  expect(await lane.route('alpha')).toMatchObject({ breaker: 'closed', error_rate: null });
});
