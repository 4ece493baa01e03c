/** The explanation agrees with the chat, over random catalogues, policies, states and parameters. */
import { expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { everything, type Lane, type Name, names, useRouting } from '../../support/routing.js';
import { SeededRandom } from '../../support/seeded-random.js';

const routing = useRouting({ clock: new ManualClock() });
const count = 24;

function randomRoute(random: SeededRandom): YamlObject {
  return {
    capabilities: everything.filter(() => random.chance(0.7)),
    ...(random.chance(0.2) && { price: undefined }),
    ...(random.chance(0.2) && { carbon: null }),
    ...(random.chance(0.2) && { locode: 'global' }),
    ...(random.chance(0.3) && { price: { input: random.below(5) / 2, output: random.below(5) / 2 } }),
  };
}

function randomPolicy(random: SeededRandom): Json {
  const some = (values: readonly string[], chance: number) => values.filter(() => random.chance(chance));
  return {
    prefer: random.pick(['balanced', 'price', 'latency', 'carbon']),
    ...(random.chance(0.25) && { deny_cloud_act: true }),
    ...(random.chance(0.25) && { max_carbon: random.pick([50, 56, 300, 400]) }),
    ...(random.chance(0.25) && { max_price: random.pick([0.5, 1, 2, 5]) }),
    ...(random.chance(0.25) && { providers: { deny: some(names, 0.3) } }),
    ...(random.chance(0.25) && { regions: { allow: some(['DE', 'FR', 'usnyc'], 0.6) } }),
  };
}

function randomParameters(random: SeededRandom): Json {
  return {
    ...(random.chance(0.3) && { logprobs: random.chance(0.8) }),
    ...(random.chance(0.2) && { n: 1 + random.below(2) }),
    ...(random.chance(0.2) && { response_format: { type: random.pick(['text', 'json_object']) } }),
    ...(random.chance(0.1) && { logit_bias: random.pick([{}, { '5': 1 }]) }),
  };
}

/** Holds and open breakers, made by pins, which no gate touches. */
async function randomStates(random: SeededRandom, lane: Lane, routes: [Name, YamlObject][]): Promise<void> {
  for (const [name, more] of routes) {
    const state = random.pick(['held', 'open', 'well', 'well', 'well']);
    if (name === 'keyless' || 'price' in more || 'locode' in more) continue;
    if (state === 'held') await lane.hold(name);
    if (state === 'open') await lane.open(name);
  }
}

it.each(Array.from({ length: count }, (_, i) => i + 1))(
  'explain’s would_serve and error are what the chat then does, seed %i',
  async (seed) => {
    const random = new SeededRandom(seed);
    const chosen = [...names, 'keyless' as const].filter(() => random.chance(0.6)) as Name[];
    const routes = (chosen.length > 0 ? chosen : (['alpha'] as Name[])).map(
      (name) => [name, randomRoute(random)] as [Name, YamlObject],
    );
    const lane = await routing.lane(routes, { policy: randomPolicy(random) });
    const other = await routing.lane(['zeta'], { account: lane.account });
    await randomStates(random, lane, routes);
    const chain = random.chance(0.3) ? { fallback: { models: [other.pin('zeta')] } } : {};
    const more = { ...randomParameters(random), ...chain };
    const explanation = (await lane.explain(more)).json;
    const reply = await lane.chat(more);
    if (explanation.would_serve === null) {
      expect(reply.json, JSON.stringify(explanation)).toEqual(explanation.error);
      expect(routing.called).toEqual([]);
      return;
    }
    expect(explanation.error).toBeNull();
    expect(reply.status, reply.text).toBe(200);
    const { served_model, breaker_skipped, provider } = reply.json.router_metadata;
    expect(served_model).toBe(explanation.would_serve);
    expect(routing.called).toEqual([provider]);
    expectVerdicts(explanation.candidates, explanation.would_serve, breaker_skipped);
  },
);

/** All before the serving one were ruled out; what a breaker skipped before it is what the metadata names. */
function expectVerdicts(candidates: Json[], serving: string, skipped: string[]): void {
  const at = candidates.findIndex(({ id, verdict }) => id === serving && verdict === 'eligible');
  const before = candidates.slice(0, at);
  expect(before.filter(({ verdict }) => verdict === 'eligible')).toEqual([]);
  const open = before.filter(({ verdict }) => verdict === 'breaker_open').map(({ id }) => String(id));
  expect(open.map((id) => `${id.split('/')[0]}/${id.split('/')[3]}`)).toEqual(skipped);
}
