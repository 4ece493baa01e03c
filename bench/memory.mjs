/** The memory of a gateway and its PostgreSQL, idle after a fresh start, and at most under load. */
import { setTimeout as pause } from 'node:timers/promises';
import { memoryMb, processTree } from './cpu.mjs';
import { scenarios } from './scenarios.mjs';

const idleMs = 4_000;
const sampleMs = 500;

/** Resolves to `{idleMb, loadedMb}`. `load` is how much is sent, as the load generator takes it. */
export async function measureMemory(rig, contender, load = { connections: 32, count: 30_000, seconds: 15 }) {
  await pause(idleMs);
  const idleMb = memoryMb(processTree(contender.pid));
  let loadedMb = idleMb;
  let over = false;
  const sampling = (async () => {
    while (!over) {
      await pause(sampleMs);
      loadedMb = Math.max(loadedMb, memoryMb(processTree(contender.pid)));
    }
  })();
  await rig.load(contender, scenarios.json, load);
  over = true;
  await sampling;
  return { idleMb, loadedMb };
}

/** One `{idleMb, loadedMb}` a round; two rows come from one series. */
export function memoryOf(rig) {
  rig.memory ??= (async () => {
    const figures = [];
    for (let round = 0; round < Math.min(rig.rounds, 2); round++) {
      // A fresh process each time: an old one has grown.
      const contender = await rig.contender('fresh');
      figures.push(await measureMemory(rig, contender));
      await rig.release('fresh');
    }
    return figures;
  })();
  return rig.memory;
}
