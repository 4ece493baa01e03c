/**
 * Hundreds of times through closed, open and half-open on a running gateway, with every way in which a probe can end: no breaker ever
 * sticks, and a failing provider never has two probes.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, Reply } from '../support/client.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { SeededRandom } from '../support/seeded-random.js';
import { pause, scaled } from './fixture.js';
import { KillableProvider, type ProviderCall } from './killable-provider.js';

const cooldownMs = 20;
const failures = 2;
const parallel = 5;
/** Models with a breaker each, worked on side by side. */
const lanes = 5;
const cyclesEach = scaled(7, 500);

const probeEnds = [
  'served',
  'server error',
  'capacity, Retry-After 1',
  'cut',
  'rejection',
  'caller gone',
  'quota spent',
  'late failure of another attempt',
] as const;
type ProbeEnd = (typeof probeEnds)[number];

/** How long the route stays out after it: a Retry-After of a second is bounded by ten cooldowns. */
const outMs: Partial<Record<ProbeEnd, number>> = {
  'server error': cooldownMs,
  'capacity, Retry-After 1': 10 * cooldownMs,
  cut: cooldownMs,
};

let acme: KillableProvider;
let beta: KillableProvider;
let gateway: TestGateway;

beforeAll(async () => {
  acme = await KillableProvider.start();
  beta = await KillableProvider.start();
  gateway = await startGateway({
    catalogue: catalogueWithLanes(),
    config: { breaker: { failures, window: '60s', cooldown: `${cooldownMs}ms` } },
  });
});
afterAll(async () => {
  await gateway.stop();
  await acme.kill();
  await beta.kill();
});

/** A hundred times the price: nothing that is observed puts the second provider first. */
function catalogueWithLanes(): YamlObject {
  const options = { routes: { beta: { price: { input: 60, output: 80 } } } };
  const catalogues = Array.from({ length: lanes }, (_, lane) =>
    catalogueOf(
      { acme: acme.url, beta: beta.url },
      { ...options, model: `lane-${lane}`, route: { upstream_model: `lane-${lane}` } },
    ),
  );
  return { ...catalogues[0], models: catalogues.flatMap(({ models }) => models as YamlObject[]) };
}

const rejection = { error: { message: 'Unsupported parameter: frobnicate', type: 'invalid_request_error' } };
const quotaSpent = { error: { message: 'Rate limit reached on tokens per day (TPD): Limit 500000' } };

/** One model, its breaker, and what its first provider does at the moment. */
class Lane {
  readonly route: string;
  behave: (call: ProviderCall) => void = (call) => call.answer();
  readonly endings: ProbeEnd[] = [];
  private readonly random: SeededRandom;

  constructor(readonly name: string) {
    this.route = `acme/meta/${name}/defra`;
    this.random = new SeededRandom(name.charCodeAt(name.length - 1));
  }

  async cycle(): Promise<void> {
    const hangingPin = await this.hangingPin();
    await this.open();
    await pause(cooldownMs + 2);
    for (let probes = 1 + this.random.below(2); probes > 0; probes--) {
      const end = this.random.pick(probeEnds);
      this.endings.push(end);
      if (end === 'late failure of another attempt') await hangingPin.fail();
      else await this.probe(end);
      await pause((outMs[end] ?? -2) + 2);
      if (end === 'served') break;
    }
    this.behave = (call) => call.answer();
    await this.expectServedByFirst();
    await hangingPin.fail();
    await this.expectServedByFirst();
  }

  private ask(content: string, signal?: AbortSignal): Promise<Reply> {
    const body = { model: `auto/meta/${this.name}`, messages: [{ role: 'user', content }] };
    return gateway.chat(body, { ...(signal && { signal }) });
  }

  private async expectServedByFirst(): Promise<void> {
    const { status, json } = await this.ask('next');
    const { router_metadata: metadata } = json;
    const history = this.endings.slice(-3).join(', ');
    expect([status, metadata?.provider, history]).toEqual([200, 'acme', history]);
    expect(metadata.breaker_skipped).toEqual([]);
  }

  /** An attempt from before the opening that fails when it is told to. */
  private async hangingPin(): Promise<{ fail(): Promise<void> }> {
    let held: ProviderCall | undefined;
    const arrived = new Promise<void>((resolve) => {
      this.behave = (call) => {
        held = call;
        resolve();
      };
    });
    const pinned = gateway.chat({ model: this.route, messages: [{ role: 'user', content: 'hanging' }] });
    await arrived;
    return {
      async fail() {
        held?.reset();
        expect((await pinned).status).toBe(503);
      },
    };
  }

  private async open(): Promise<void> {
    this.behave = (call) => call.json(500, { error: { message: 'out of order' } });
    for (let i = 0; i < failures; i++) {
      const { json } = await this.ask('opening');
      expect(json.router_metadata?.providers_attempted).toEqual(['acme', 'beta']);
    }
  }

  /** Several callers at once at the end of the cooldown; the one that probes is let go when the others have their answers. */
  private async probe(end: ProbeEnd): Promise<void> {
    const calls: ProviderCall[] = [];
    this.behave = (call) => void calls.push(call);
    const hangUps = Array.from({ length: parallel }, () => new AbortController());
    const replies = hangUps.map(({ signal }, at) => this.ask(String(at), signal).catch(() => null));
    let answered = 0;
    for (const reply of replies) void reply.then(() => answered++);
    const patience = performance.now() + 10_000;
    while (answered + calls.length < parallel && performance.now() < patience) await pause(1);
    expect([calls.length, answered, end]).toEqual([1, parallel - 1, end]);

    const [call] = calls as [ProviderCall];
    const prober = Number(call.request.messages[0]!.content);
    await this.endProbe(call, end, hangUps[prober]!);
    const provers = await Promise.all(replies);
    const probed = provers[prober]!;
    if (end === 'caller gone') expect(probed).toBeNull();
    else if (end === 'rejection') expect(probed?.status).toBe(400);
    else expect(providerOf(probed)).toBe(end === 'served' ? 'acme' : 'beta');
    for (const [at, reply] of provers.entries()) if (at !== prober) expect(providerOf(reply)).toBe('beta');
    expect(calls).toHaveLength(1);
    if (end === 'quota spent') await this.lift();
  }

  private async endProbe(call: ProviderCall, end: ProbeEnd, hangUp: AbortController): Promise<void> {
    if (end === 'served') call.answer();
    else if (end === 'server error') call.json(500, { error: { message: 'out of order' } });
    else if (end === 'capacity, Retry-After 1')
      call.json(429, { error: { message: 'too many concurrent requests' } }, { 'retry-after': '1' });
    else if (end === 'cut') call.breakOff();
    else if (end === 'rejection') call.json(400, rejection);
    else if (end === 'quota spent') call.json(429, quotaSpent);
    else {
      hangUp.abort();
      await call.ended;
    }
  }

  private async lift(): Promise<void> {
    expect(providerOf(await this.ask('held'))).toBe('beta');
    expect((await gateway.admin('DELETE', `/routes/${this.route}/hold`)).status).toBe(204);
  }
}

const providerOf = (reply: Reply | null): unknown => reply?.json.router_metadata?.provider;

it(`${lanes * cyclesEach} cycles with probes that end in every way: one probe at a time, and the next request after the cooldown is served`, async () => {
  const all = new Map(Array.from({ length: lanes }, (_, at) => [`lane-${at}`, new Lane(`lane-${at}`)]));
  acme.behave = (call) => all.get(call.request.model)!.behave(call);
  const run = async (lane: Lane) => {
    for (let cycle = 0; cycle < cyclesEach; cycle++) await lane.cycle();
  };
  await Promise.all([...all.values()].map(run));
  const { json } = await gateway.admin('GET', '/routes');
  expect(json.data.map(({ breaker, hold }: Json) => [breaker, hold])).toEqual(Array(2 * lanes).fill(['closed', null]));
  const counts = new Map<string, number>();
  for (const end of [...all.values()].flatMap(({ endings }) => endings)) counts.set(end, (counts.get(end) ?? 0) + 1);
  expect([...counts.keys()].sort()).toEqual([...probeEnds].sort());
  console.log(`${lanes * cyclesEach} cycles:`, JSON.stringify(Object.fromEntries(counts)));
}, 600_000);
