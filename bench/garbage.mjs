/** How much a request leaves to the garbage collector of the serving process: what V8 reports of each collection, added up. */
import { startLodestone } from './lodestone.mjs';
import { stop } from './processes.mjs';
import { scenarios } from './scenarios.mjs';

const requests = 12_000;
/** `[pid:isolate] 123 ms: Scavenge 30.1 (50.2) -> 20.3 (52.2) MB`: megabytes in use before and after. */
const collection = /^\[(\d+):.*?: [\w() -]+? ([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB/gm;

/** Resolves to kilobytes a request, one value a round. */
export async function measureGarbage(rig, rounds = Math.min(rig.rounds, 3)) {
  rig.log(`garbage: ${requests} whole answers, a gateway that reports its collections`);
  const gateway = await startLodestone({ ...rig.place('garbage'), nodeArgs: ['--trace-gc'] });
  const contender = { name: 'garbage', path: '/v1/chat/completions', ...gateway };
  await rig.load(contender, scenarios.json, scenarios.json.warm);
  const figures = [];
  for (let round = 0; round < rounds; round++) {
    const from = gateway.entry.output.length;
    const { ok } = await rig.load(contender, scenarios.json, { connections: 32, count: requests, seconds: 20 });
    figures.push(allocatedKb(gateway.entry.output.slice(from), gateway.pid) / ok);
  }
  await stop(gateway.entry);
  return figures;
}

/** What was allocated between the first and the last collection; the part before the first and behind the last is left out. */
export function allocatedKb(output, pid) {
  let kilobytes = 0;
  let left;
  for (const [, writer, before, after] of output.matchAll(collection)) {
    if (Number(writer) !== pid) continue;
    if (left !== undefined) kilobytes += (Number(before) - left) * 1024;
    left = Number(after);
  }
  return kilobytes;
}
