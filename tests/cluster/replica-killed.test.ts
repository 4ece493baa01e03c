/** A killed replica loses only its running requests: the ledger matches what was delivered, by either replica. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pause, scaled } from '../faults/fixture.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { type Replicas, startReplicas } from '../support/replicas.js';
import { SeededRandom } from '../support/seeded-random.js';
import { CountedTraffic, type Outcome } from './counted-traffic.js';

const kills = scaled(2, 20);
const callerCount = 8;
/** Other suites want the machine too. */
const paceMs = scaled(40, 0);

let fleet: Replicas;
beforeAll(async () => {
  fleet = await startReplicas();
}, 180_000);
afterAll(() => fleet.stop());

it(`${kills} times kill -9 of a replica under load at both: every answer that arrived is billed once, and nothing that the provider did not deliver `, async () => {
  const traffic = await CountedTraffic.begin(fleet);
  const random = new SeededRandom(5);
  let over = false;
  // Whoever loses the connection goes on with the other replica.
  const caller = async (turn: number) => {
    for (let at = turn; !over; ) {
      const replica = fleet.all[at % 2]!;
      const { fault } = await (random.chance(0.5)
        ? traffic.stream(replica, { frames: 4, gapMs: random.below(6) })
        : traffic.whole(replica));
      if (fault !== '' || random.chance(0.3)) at++;
      await pause(fault === '' ? paceMs : 20);
    }
  };
  const callers = Array.from({ length: callerCount }, (_, turn) => caller(turn));
  const killedAt: { replica: SpawnedGateway; from: number; until: number }[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const replica = fleet.all[kill % 2]!;
    await served(traffic, replica, 15);
    await pause(random.below(300));
    const from = performance.now();
    await replica.kill('SIGKILL');
    await pause(random.below(200));
    await replica.restart();
    killedAt.push({ replica, from, until: performance.now() });
    await served(traffic, replica, 5);
  }
  over = true;
  await Promise.all(callers);
  const faults = traffic.outcomes.filter(({ fault }) => fault !== '');
  // Only the killed one fails anybody, and only by its absence.
  const unexplained = faults.filter((outcome) => !killedAt.some((killed) => explains(killed, outcome)));
  expect(unexplained.map(({ status, fault }) => `${status} ${fault}`)).toEqual([]);
  const { held, lost, broken } = await traffic.expectBooks();
  console.log(
    `replica killed: ${kills} kills, ${traffic.outcomes.length} requests, ${held} answered whole and billed once, ` +
      `${faults.length} without an answer, ${lost} of them delivered by the provider and billed, ${broken} broken off in mid-stream`,
  );
  expect(lost + broken).toBeLessThanOrEqual(Math.min(callerCount * kills, faults.length));
}, 600_000);

function explains(
  { replica, from, until }: { replica: SpawnedGateway; from: number; until: number },
  outcome: Outcome,
) {
  const { startedAt, ms } = outcome;
  return (
    outcome.replica === replica &&
    outcome.status !== 401 &&
    outcome.status !== 402 &&
    startedAt < until &&
    startedAt + ms > from
  );
}

/** That many more answers from a replica. */
async function served({ outcomes }: CountedTraffic, replica: SpawnedGateway, more: number): Promise<void> {
  const count = () => outcomes.filter((outcome) => outcome.replica === replica && outcome.fault === '').length;
  for (const wanted = count() + more; count() < wanted; ) await pause(5);
}
