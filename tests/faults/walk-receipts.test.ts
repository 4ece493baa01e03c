/** A six-route catalogue in random combinations of states, held against a plain model. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { YamlObject } from '../support/gateway-files.js';
import {
  broken,
  expectReceipt,
  type Lane,
  limited,
  locodes,
  metadataOf,
  type Name,
  names,
  Routing,
  rejecting,
  serving,
  silent,
  spent,
} from '../support/routing.js';
import { completion, type Script, slowBody } from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';
import { full, scaled } from './fixture.js';

const timeouts = { first_byte_non_streaming: '150ms', overall: '1s' };
/** A breaker that no run outlasts. */
const breaker = { window: '10m', cooldown: '10m' };
const routing = new Routing();
beforeAll(() => routing.start({ config: { timeouts, breaker } }));
beforeEach(() => routing.reset());
afterAll(() => routing.stop());

const states = {
  /** Ruled out before the walk comes to it. */
  out: ['held', 'open', 'unpriced', 'unable'],
  /** Tried, and what then happens. */
  tried: ['broken', 'limited', 'spent', 'silent', 'dripping', 'rejecting', 'serving'],
} as const;
type State = (typeof states)['out' | 'tried'][number];

const last: Partial<Record<State, string>> = {
  broken: 'out of order (HTTP 500)',
  limited: 'rate limit: slow down (HTTP 429)',
  spent: 'tokens per day (TPD) limit reached (HTTP 429)',
  silent: 'the first-byte budget of 150ms expired',
  dripping: 'the overall budget of 1s expired',
};
const dripping = slowBody(completion({ content: 'x'.repeat(2_000) }), { gapMs: 100 });
const scripts: Partial<Record<State, Script>> = { broken, limited, spent, silent, dripping, rejecting, serving };
const fixed: Partial<Record<State, YamlObject>> = { unpriced: { price: undefined }, unable: { capabilities: [] } };

type States = Record<(typeof names)[number], State>;

async function laneIn(chosen: States): Promise<Lane> {
  const routes = names.map((name) => [name, fixed[chosen[name]] ?? {}] as const);
  const lane = await routing.lane(routes);
  for (const name of names) if (chosen[name] === 'held') await lane.hold(name);
  for (const name of names) if (chosen[name] === 'open') await lane.open(name);
  for (const name of names) {
    const script = scripts[chosen[name]];
    if (script) routing.on(name, script);
  }
  return lane;
}

/** The expected course of the walk. */
function expected(chosen: States) {
  // The order of rank is that of `names`, but for the unpriced, which come last.
  const order = [...names].sort((a, b) => Number(chosen[a] === 'unpriced') - Number(chosen[b] === 'unpriced'));
  const attempted: Name[] = [];
  let skipped: string[] = [];
  const isOut = (name: (typeof names)[number]) => (states.out as readonly State[]).includes(chosen[name]);
  for (const [at, name] of order.entries()) {
    const state = chosen[name];
    if (state === 'open') skipped.push(`${name}/${locodes[name]}`);
    if (isOut(name)) continue;
    attempted.push(name);
    if (state === 'serving') return { end: 'served' as const, attempted, skipped, name };
    if (state === 'rejecting') return { end: 'rejected' as const, attempted, skipped, name };
    if (state !== 'dripping') continue;
    const rest = order.slice(at + 1);
    skipped = [...skipped, ...rest.filter((one) => chosen[one] === 'open').map((one) => `${one}/${locodes[one]}`)];
    return { end: 'failed' as const, attempted, skipped, name, remaining: rest.filter((one) => !isOut(one)).length };
  }
  return { end: 'failed' as const, attempted, skipped, name: attempted.at(-1), remaining: 0 };
}

async function expectWalk(chosen: States): Promise<void> {
  const lane = await laneIn(chosen);
  const reply = await lane.chat({ logprobs: true });
  const model = expected(chosen);
  expect(routing.called).toEqual(model.attempted);
  if (model.end === 'served') {
    const skipped = { breaker_skipped: model.skipped };
    expect(reply.json.router_metadata).toEqual(metadataOf(lane, model.name, model.attempted, skipped));
    return;
  }
  if (model.end === 'rejected') {
    expect([reply.status, reply.json.error.candidates_remaining]).toEqual([400, undefined]);
    return;
  }
  const outs = new Set(Object.values(chosen));
  if (model.name === undefined && outs.size === 1 && !outs.has('open') && !outs.has('unpriced')) {
    expect(reply.json.error.code).toBe(outs.has('held') ? 'model_unavailable' : undefined);
    return;
  }
  const state = model.name && chosen[model.name as keyof States];
  const timedOut = state === 'silent' || state === 'dripping';
  const code = timedOut ? 'provider_timeout' : state === 'spent' ? 'provider_quota_exhausted' : 'provider_error';
  const { attempted, skipped, remaining } = model;
  expectReceipt(reply, code, { attempted, skipped, remaining, last: (state && last[state]) ?? '' });
}

const all = (state: State) => Object.fromEntries(names.map((name) => [name, state])) as States;

describe('the receipt is exact: who was attempted, who skipped, what remains', () => {
  it.each(['held', 'open', 'unpriced', 'unable', 'broken', 'spent'] as State[])('all six %s', async (state) => {
    await expectWalk(all(state));
  });

  const count = scaled(12, 400);
  it.each(Array.from({ length: count }, (_, i) => i + 1))('a random combination, seed %i', async (seed) => {
    const random = new SeededRandom(seed);
    const mix: State[] = [...states.out, ...states.tried, 'broken', 'limited'];
    // The model knows no walk that runs out of time while it waits, so few may be silent.
    const chosen = all('broken');
    let silences = 0;
    for (const name of names) {
      const state = random.pick(mix);
      chosen[name] = state === 'silent' && ++silences > (full ? 2 : 1) ? 'broken' : state;
    }
    await expectWalk(chosen);
  });
});

it('everything fails: at most one attempt a candidate, so the calls are at most candidates × requests', async () => {
  const lane = await routing.lane(['alpha', 'beta', 'gamma', 'delta']);
  for (const name of ['alpha', 'beta', 'gamma', 'delta'] as const) routing.on(name, broken);
  const count = scaled(30, 1_000);
  const replies = await Promise.all(Array.from({ length: count }, () => lane.chat()));
  let attempts = 0;
  for (const { status, json } of replies) {
    // A busy machine may answer later than the budget for the first byte.
    expect([503, 504]).toContain(status);
    expect(json.error.candidates_remaining).toBe(0);
    const tried = json.error.providers_attempted as string[];
    expect(new Set(tried).size).toBe(tried.length);
    expect(tried.length + json.error.breaker_skipped.length).toBe(4);
    attempts += tried.length;
  }
  expect(routing.called).toHaveLength(attempts);
  expect(await lane.charges()).toEqual([]);
});
