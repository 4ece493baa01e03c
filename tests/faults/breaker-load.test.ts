/** Breakers under load, through a running gateway: an outage costs no caller an answer, and a provider that has recovered serves. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { measuredTime, repeatMeasured } from '../support/measured-time.js';
import { costOf, expectBooks, expectWithin, full, heldUpMs, pause } from './fixture.js';
import { KillableProvider, type ProviderCall } from './killable-provider.js';
import { OpenLoop } from './open-loop.js';

const cooldownMs = 1_000;
const failures = 5;
const model = 'auto/meta/llama-3.3-70b';
const first = 'acme/meta/llama-3.3-70b/defra';
const patienceMs = 60_000;

let acme: KillableProvider;
let beta: KillableProvider;
let gateway: SpawnedGateway;

const well = (call: ProviderCall) => void setTimeout(() => call.answer(), 15);
const slowFailure = (call: ProviderCall) =>
  void setTimeout(() => call.json(500, { error: { message: 'starting up' } }), 150);

interface Outage {
  fail(): Promise<void> | void;
  /** How long an attempt on the failing provider takes to fail. */
  firstByteMs: number;
}

const outages: [string, Outage][] = [
  [
    'accepts and never answers',
    {
      firstByteMs: 4_000,
      fail() {
        acme.behave = () => {};
      },
    },
  ],
];
// With LODESTONE_FULL=1 alone: to the breaker they are failures like those above, and sooner over.
if (full)
  outages.push(
    ['refuses connections', { firstByteMs: 30_000, fail: () => acme.kill() }],
    [
      'breaks off before the first content',
      {
        firstByteMs: 30_000,
        fail() {
          acme.behave = (call) => call.breakOff();
        },
      },
    ],
  );

/** Slower only where the machine has not got it in it: there the answers, not the outage, would be what is late. */
const rates = [...(full ? [150] : []), 60, 30, 10];

interface Run {
  load: OpenLoop;
  account: TestAccount;
  returnedAt: number;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > end) expect.fail(`not within ${patienceMs} ms: ${condition}`);
    await pause(10);
  }
}

async function breakerOf(id: string): Promise<string> {
  const { json } = await gateway.admin('GET', '/routes');
  return json.data.find((route: Json) => route.id === id).breaker;
}

describe.each(outages)('the first of two providers %s', (name, { fail, firstByteMs }) => {
  beforeAll(async () => {
    acme = await KillableProvider.start();
    beta = await KillableProvider.start();
    const budget = `${firstByteMs}ms`;
    gateway = await spawnGateway({
      // A hundred times the price: nothing that is observed puts the second provider first.
      catalogue: catalogueOf(
        { acme: acme.url, beta: beta.url },
        { routes: { beta: { price: { input: 60, output: 80 } } } },
      ),
      config: {
        breaker: { failures, window: '10s', cooldown: `${cooldownMs}ms` },
        timeouts: {
          first_byte_streaming: budget,
          first_byte_streaming_after_timeout: budget,
          first_byte_non_streaming: budget,
          overall: '60s',
        },
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await acme.kill();
    await beta.kill();
  });

  /** One probe at a time from the opening until the provider has recovered. */
  async function probesOfTheFailing(): Promise<void> {
    await until(async () => (await breakerOf(first)) !== 'closed');
    // What was sent before that has been read after a few turns of the loop, however long they take.
    for (let turns = 0; turns < 10; turns++) await pause(5);
    acme.watch();
    await pause(1.2 * cooldownMs);
    expect(acme.seen.inFlightMax).toBeLessThanOrEqual(1);
    await acme.kill();
    await acme.revive();
    acme.behave = slowFailure;
    acme.watch();
    await until(() => acme.seen.calls > 0 && acme.seen.inFlight === 0);
    expect(acme.seen.inFlightMax).toBe(1);
  }

  /** null where the machine was too busy to tell. */
  async function outageAt(requestsPerSecond: number): Promise<Run | null> {
    acme.behave = beta.behave = well;
    const account = await gateway.createAccount();
    const load = new OpenLoop(gateway, account.key, model, requestsPerSecond);
    load.start();
    await pause(1_000);
    if (load.slowestMs(performance.now() - 500) < Math.min(firstByteMs / 4, 1_000)) {
      await fail();
      await probesOfTheFailing();
      acme.behave = well;
      const returnedAt = performance.now();
      const back = () => load.callers.filter((one) => one.startedAt > returnedAt && one.provider === 'acme');
      await until(() => back().length >= requestsPerSecond / 3);
      await load.stop();
      if (load.slowestMs(0) < firstByteMs / 2) return { load, account, returnedAt };
    }
    await load.stop();
    return null;
  }

  it('at 60 requests a second (150 with full counts), or what the machine can take: no caller notices, one probe at a time, back within the cooldown and a second, each answer billed once', {
    retry: repeatMeasured(3),
    timeout: 240_000,
  }, async () => {
    let run: Run | null = null;
    for (const rate of rates) run ??= await outageAt(rate);
    if (!run) expect.fail(`${measuredTime}: this machine cannot serve ${rates.at(-1)} requests a second`);
    const { load, account, returnedAt } = run;
    const { callers } = load;
    expect(callers.filter(({ fault }) => fault !== '')).toEqual([]);
    expect(await breakerOf(first)).toBe('closed');
    const lastElsewhere = callers.findLast(({ provider }) => provider === 'beta')!;
    const backMs = lastElsewhere.startedAt - returnedAt;
    expectWithin(backMs, cooldownMs + 1_000 + load.slowestMs(returnedAt));
    const rescued = callers.filter(({ attempted }) => attempted.length > 1);
    expect(rescued.length).toBeGreaterThanOrEqual(failures);
    console.log(
      `${name}: ${callers.length} callers at ${load.callersPerSecond.toFixed(0)} a second, none failed, ${rescued.length} rescued by the second ` +
        `provider, back ${backMs.toFixed(0)} ms after its return; slowest direct answer ${load.slowestMs(0).toFixed(0)} ms, held up ${heldUpMs().toFixed(0)} ms`,
    );
    const costs = callers.map(({ provider }) => (provider === 'acme' ? costOf(9, 3) : 100n * costOf(9, 3)));
    const records = await expectBooks(gateway, account, { records: callers.length, costs });
    const servedBy = new Map(records.map(({ id, provider }) => [id, provider]));
    for (const { generationId, provider } of callers) expect(servedBy.get(generationId)).toBe(provider);
  });
});
