/** A part that fails under load: steady callers and running streams at both replicas, watched from before it until after its return. */

import { expect } from 'vitest';
import { heldUpMs, pause, scaled } from '../faults/fixture.js';
import type { TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { measuredTime } from '../support/measured-time.js';
import { type Replicas, readiness } from '../support/replicas.js';
import { CountedTraffic, type Outcome } from './counted-traffic.js';

const requestsPerSecond = scaled(12, 40);
const streamsEach = scaled(3, 8);
const streamFrames = 20;
const beforeMs = 1_000;
/** Of which the figures speak. */
const firstMs = 1_000;
const recoveredWithinMs = 5_000;

export interface Outage {
  /** Of which the figures speak. */
  name: string;
  lastsMs: number;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
  /** What is done and checked while it lasts. */
  meanwhile?(): Promise<void>;
  /** Whether a replica has everything back. */
  recovered(replica: SpawnedGateway): Promise<boolean>;
}

export interface OutageFigures {
  /** The slowest request, long streams aside, that began in the second before, and in the second after the beginning. */
  slowestBeforeMs: number;
  slowestMs: number;
  /** The slowest that needs neither store nor shared state, in that second: what the machine itself was good for. */
  slowestPlainMs: number;
  recoveredMs: number;
}

/** Promised for each: no running answer is cut, no 401 or 402 is made up, everything is settled once, and it heals by itself. */
export async function throughOutage(fleet: Replicas, outage: Outage): Promise<OutageFigures> {
  const traffic = await CountedTraffic.begin(fleet);
  const pids = fleet.all.map(({ pid }) => pid);
  const gapMs = (beforeMs + outage.lastsMs + 1_500) / streamFrames;
  const streams = fleet.all.flatMap((replica) =>
    Array.from({ length: streamsEach }, () => traffic.stream(replica, { frames: streamFrames, gapMs })),
  );
  let begunAt = 0;
  const load = traffic.steady(requestsPerSecond);
  const plain = plainCalls(fleet, () => begunAt > 0 && performance.now() > begunAt + firstMs);
  let recoveredMs = 0;
  try {
    await pause(beforeMs);
    begunAt = performance.now();
    await outage.begin();
    const over = pause(outage.lastsMs);
    await outage.meanwhile?.();
    await over;
    await outage.end();
    const endedAt = performance.now();
    for (const replica of fleet.all) while (!(await outage.recovered(replica))) await pause(20);
    recoveredMs = performance.now() - endedAt;
  } finally {
    await Promise.all([...streams, plain.stop(), load.stop()]);
  }

  const faults = traffic.outcomes.filter(({ fault }) => fault !== '');
  const sinceBegun = ({ startedAt }: Outcome) => `${(startedAt - begunAt).toFixed(0)} ms after the beginning`;
  expect(
    faults.map((one) => `${'AB'[fleet.all.indexOf(one.replica)]}, ${sinceBegun(one)}: ${one.status} ${one.fault}`),
  ).toEqual([]);
  const { held, lost } = await traffic.expectBooks();
  expect([held, lost]).toEqual([traffic.outcomes.length, 0]);
  expect(fleet.all.map(({ pid }) => pid)).toEqual(pids);
  const long = new Set(await Promise.all(streams));
  const short = traffic.outcomes.filter((outcome) => !long.has(outcome));
  const figures = {
    slowestBeforeMs: slowest(short, begunAt - beforeMs, begunAt - 100),
    slowestMs: slowest(short, begunAt - 100, begunAt + firstMs),
    slowestPlainMs: slowest(plain.outcomes, begunAt - 100, begunAt + firstMs),
    recoveredMs,
  };
  console.log(
    `${outage.name} for ${outage.lastsMs} ms: ${held} answers, all whole and billed once; slowest in the second before ` +
      `${figures.slowestBeforeMs.toFixed(0)} ms, after ${figures.slowestMs.toFixed(0)} ms (of those that need no part ` +
      `${figures.slowestPlainMs.toFixed(0)} ms; own lag ${heldUpMs().toFixed(0)} ms); back after ${recoveredMs.toFixed(0)} ms`,
  );
  expect(recoveredMs, measuredTime).toBeLessThan(recoveredWithinMs + heldUpMs());
  return figures;
}

type Timed = Pick<Outcome, 'startedAt' | 'ms'>;

function slowest(outcomes: readonly Timed[], from: number, until: number): number {
  const within = outcomes.filter(({ startedAt }) => startedAt >= from && startedAt < until);
  return within.reduce((most, { ms }) => Math.max(most, ms), 0);
}

/** /healthz at both, over and over, until nobody looks at its times any more. */
function plainCalls({ all }: Replicas, isEnough: () => boolean): { outcomes: Timed[]; stop(): Promise<void> } {
  const outcomes: Timed[] = [];
  let over = false;
  const lanes = all.map(async (replica) => {
    while (!over && !isEnough()) {
      const startedAt = performance.now();
      await replica.call('GET', '/healthz', undefined, { key: null });
      outcomes.push({ startedAt, ms: performance.now() - startedAt });
      await pause(scaled(20, 10));
    }
  });
  return {
    outcomes,
    async stop() {
      over = true;
      await Promise.all(lanes);
    },
  };
}

/** The statuses of one request with the key at each replica. */
export async function statusesOf(
  { all }: Replicas,
  { key }: Pick<TestAccount, 'key'>,
  body: object,
): Promise<number[]> {
  return Promise.all(all.map(async (replica) => (await replica.chat(body, { key })).status));
}

export const redisIsBack = async (replica: SpawnedGateway): Promise<boolean> =>
  (await readiness(replica)).degraded.length === 0;
export const storeIsBack = async (replica: SpawnedGateway): Promise<boolean> =>
  (await readiness(replica)).status === 200;
