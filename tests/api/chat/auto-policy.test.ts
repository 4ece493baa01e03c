import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { broken, expectReceipt, type Name, useRouting } from '../../support/routing.js';
import { completion, json } from '../../support/scripted-upstream.js';
import { expectError } from '../harness.js';

const routing = useRouting();

/** Who is asked, in order, when everybody fails. */
async function walked(routes: Parameters<typeof routing.lane>[0], policy: Json): Promise<string[]> {
  const lane = await routing.lane(routes, { policy });
  for (const name of ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'] as Name[]) routing.on(name, broken);
  const reply = await lane.chat();
  expect(reply.status).toBe(503);
  expect(reply.json.error.providers_attempted).toEqual(routing.called);
  return routing.called;
}

describe('the account’s policy decides which candidates an auto/ id has', () => {
  it.each<[string, Json, Name[]]>([
    ['deny_cloud_act', { deny_cloud_act: true }, ['alpha', 'beta', 'epsilon', 'zeta']],
    ['max_carbon', { max_carbon: 288 }, ['beta', 'gamma', 'epsilon', 'zeta']],
    ['max_price, held against the dearer price', { max_price: 1.6 }, ['alpha', 'beta', 'gamma', 'delta']],
    ['providers.allow', { providers: { allow: ['zeta', 'beta'] } }, ['beta', 'zeta']],
    ['providers.deny', { providers: { deny: ['alpha', 'zeta'] } }, ['beta', 'gamma', 'delta', 'epsilon']],
    ['regions.allow by locode', { regions: { allow: ['FRPAR'] } }, ['beta', 'epsilon']],
    ['regions.deny by country', { regions: { deny: ['fr', 'US'] } }, ['alpha', 'delta']],
    ['creators.allow', { creators: { allow: ['meta'] } }, ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']],
    ['several at once', { deny_cloud_act: true, max_carbon: 300, regions: { deny: ['FR'] } }, ['zeta']],
  ])('%s: only what it leaves is ever asked, in order, whatever fails', async (_gate, policy, expected) => {
    const all = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'] as const;
    expect(await walked(all, { prefer: 'price', ...policy })).toEqual(expected);
  });

  it('403 with each gate and its count, by the first gate that removes a route; nobody is called', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'], {
      policy: { deny_cloud_act: true, max_carbon: 288, max_price: 2, providers: { deny: ['beta'] } },
    });
    // gamma and delta; alpha; epsilon and zeta; beta.
    const counts =
      'deny_cloud_act removed 2 routes, max_carbon removed 1 route, max_price removed 2 routes, providers removed 1 route';
    const row = { status: 403, type: 'permission_error', code: 'routing_policy_exhausted', param: 'model' };
    expectError(await lane.chat(), { ...row, says: [lane.auto, counts] });
    expect(routing.called).toEqual([]);
    expect(await lane.record()).toBeUndefined();
  });

  it('the 403 comes before holds, breakers and parameters are looked at', async () => {
    const lane = await routing.lane({ alpha: { capabilities: [] } }, { policy: { max_carbon: 1 } });
    await lane.hold('alpha');
    expect((await lane.chat({ n: 2 })).json.error.code).toBe('routing_policy_exhausted');
  });

  it('the model’s state comes before the policy', async () => {
    const lane = await routing.lane(['alpha'], { policy: { max_carbon: 1 } });
    await lane.state('soft_disabled');
    expect((await lane.chat()).json.error.code).toBe('model_unavailable');
  });

  it('gates never touch a pin, nor an alias to one; an alias to auto/ they do', async () => {
    const lane = await routing.lane(['alpha', 'beta'], {
      policy: {
        deny_cloud_act: true,
        max_carbon: 0,
        max_price: 0,
        providers: { allow: ['none'] },
        creators: { deny: ['meta'] },
        regions: { allow: ['US'] },
      },
    });
    const [pin, auto] = [await lane.alias('pin', lane.pin('beta')), await lane.alias('auto', lane.auto)];
    expect((await lane.chat({ model: lane.pin('alpha') })).json.router_metadata?.provider).toBe('alpha');
    expect((await lane.chat({ model: `alpha/meta/${lane.model}` })).status).toBe(200);
    expect((await lane.chat({ model: pin })).json.router_metadata?.provider).toBe('beta');
    expect((await lane.chat({ model: auto })).json.error.code).toBe('routing_policy_exhausted');
  });

  it('a constraint that cannot be met is an error: no other region is substituted', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma'], { policy: { regions: { allow: ['defra'] } } });
    routing.on('alpha', broken);
    const receipt = { attempted: ['alpha'], last: 'out of order (HTTP 500)' };
    expectReceipt(await lane.chat(), 'provider_error', receipt);
    expect(routing.called).toEqual(['alpha']);
  });
});

describe('the unknown-value rule', () => {
  const routes = {
    alpha: { carbon: null },
    beta: {},
    gamma: { price: undefined },
    delta: { locode: 'global' },
    zeta: {},
  };

  it.each([
    ['max_carbon excludes routes without a figure, also a global one', { max_carbon: 1000 }, ['beta', 'zeta']],
    ['max_price excludes a route without a price', { max_price: 1000 }, ['beta', 'zeta', 'alpha', 'delta']],
    ['without a ceiling unknown carbon ranks last', {}, ['beta', 'zeta', 'alpha', 'delta']],
    ['also under prefer: latency', { prefer: 'latency' }, ['beta', 'zeta', 'alpha', 'delta']],
    ['also under prefer: carbon', { prefer: 'carbon' }, ['beta', 'zeta', 'alpha', 'delta']],
    ['also under prefer: balanced', { prefer: 'balanced' }, ['beta', 'zeta', 'alpha', 'delta']],
  ])('%s', async (_what, policy, expected) => {
    expect(await walked(routes, { prefer: 'price', ...policy })).toEqual(expected);
  });

  it('a route without a price ranks behind all, and is skipped as unpriceable', async () => {
    const lane = await routing.lane(routes);
    const { candidates } = (await lane.explain()).json;
    expect(candidates.at(-1)).toMatchObject({ id: lane.pin('gamma'), verdict: 'unpriced' });
  });

  it('a global route’s own carbon is known, and max_carbon admits it', async () => {
    const globals = { alpha: { locode: 'global', carbon: 20 }, beta: { locode: 'global' } };
    expect(await walked(globals, { max_carbon: 20 })).toEqual(['alpha']);
  });

  it('an allow list of regions removes a global route, a deny list does not', async () => {
    const globals = { alpha: { locode: 'global' }, beta: {} };
    expect(await walked(globals, { regions: { allow: ['FR', 'DE', 'US'] } })).toEqual(['beta']);
    routing.reset();
    expect(await walked(globals, { regions: { deny: ['FR'] } })).toEqual(['alpha']);
  });
});

describe('prefer orders what the gates leave', () => {
  it.each<[string, string[]]>([
    ['price', ['alpha', 'beta', 'gamma']],
    ['carbon', ['beta', 'gamma', 'alpha']],
  ])('%s', async (prefer, expected) => {
    const routes = { alpha: { carbon: 300 }, beta: { carbon: 10 }, gamma: { carbon: 60 } };
    expect(await walked(routes, { prefer })).toEqual(expected);
  });

  it('latency: the first byte of recent answers decides, streamed and whole ones apart; price does not follow it', async () => {
    const lane = await routing.lane({ alpha: {}, beta: { carbon: 344 } }, { policy: { prefer: 'latency' } });
    // A route that was never measured is taken to be fast, so the cheaper one is measured first.
    routing.on('alpha', json(completion(), { delayMs: 450 }));
    const first = async () => (await lane.explain()).json.would_serve;
    expect(await first()).toBe(lane.pin('alpha'));
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
    expect(await first()).toBe(lane.pin('beta'));
    expect((await lane.explain({ stream: true })).json.would_serve).toBe(lane.pin('alpha'));
    await lane.policy({ prefer: 'price' });
    expect(await first()).toBe(lane.pin('alpha'));
  });
});
