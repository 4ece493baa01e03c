/** The longest pause of the gateway's event loop in each round of the steady load, measured from inside (bench/loop-watch.mjs). */
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { scenarios } from './scenarios.mjs';

export async function measurePauses(rig, rounds) {
  const contender = await rig.contender('watched');
  const { steady } = scenarios;
  rig.log(`loop: ${steady.what}, a gateway that watches its event loop`);
  await rig.load(contender, scenarios.json, scenarios.json.warm);
  await rig.load(contender, steady, steady.warm);
  const pauses = [];
  for (let round = 0; round < rounds; round++) {
    const { longestMs } = await rig.undisturbed(async () => {
      await report(contender);
      const { foreignShare } = await rig.measureOnce(contender, steady);
      return { foreignShare, ...(await report(contender)) };
    });
    pauses.push(longestMs);
  }
  await rig.release('watched');
  return pauses;
}

/** Asks for what was seen since the last time. */
async function report({ pid, loopFile }) {
  rmSync(loopFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let tries = 0; tries < 200; tries++) {
    try {
      return JSON.parse(readFileSync(loopFile, 'utf8'));
    } catch {
      // Not written yet.
      await pause(10);
    }
  }
  throw new Error('The gateway did not report the pauses of its event loop.');
}
