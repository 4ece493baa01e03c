/**
 * The CPU that a request costs a gateway, as a multiple of what it costs the bare proxy: few requests, many short rounds in turns, and
 * the median of the rounds, so that it can run beside other work. Nothing is pinned to a core.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuBetween, processTree, readCpu } from './cpu.mjs';
import { catalogueFor, pinnedModel } from './lodestone.mjs';
import { printed, start, stop } from './processes.mjs';
import { scenarios } from './scenarios.mjs';
import { summaryOf } from './statistics.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const connections = 32;

/**
 * `startGateway` takes a catalogue and resolves to `{port, pid, key}`. `requests` go to each of the two in all: the first 30 % warm it up,
 * the rest is spread over the rounds.
 */
export async function measureCostRatio({ startGateway, requests, rounds }) {
  const program = (file, args = [], options = {}) =>
    start(process.execPath, [join(here, file), ...args], { core: null, ...options });
  const warmUp = Math.round(requests * 0.3);
  const perRound = Math.floor((requests - warmUp) / rounds);
  const started = [];
  try {
    const upstream = program('upstream.mjs');
    started.push(upstream);
    const upstreamPort = Number(await printed(upstream, /port (\d+)/));
    const loader = program('load.mjs', [], { ipc: true });
    const bareEntry = program('bare-proxy.mjs', [`http://127.0.0.1:${upstreamPort}`]);
    started.push(loader, bareEntry);
    const bare = { port: Number(await printed(bareEntry, /port (\d+)/)), pid: bareEntry.child.pid, key: 'none' };
    const gateway = await startGateway(catalogueFor(upstreamPort));
    for (const each of [bare, gateway]) await costOf(loader, each, warmUp);
    const ratios = [];
    for (let round = 0; round < rounds; round++) {
      const costs = new Map();
      // The order changes, so that neither always runs after the other.
      for (const each of round % 2 === 0 ? [bare, gateway] : [gateway, bare])
        costs.set(each, await costOf(loader, each, perRound));
      ratios.push(costs.get(gateway) / costs.get(bare));
    }
    return { ...summaryOf(ratios), ratios };
  } finally {
    for (const entry of started.reverse()) await stop(entry);
  }
}

/** Microseconds of CPU a request, of the process and all that it started. */
async function costOf(loader, { port, pid, key }, requests) {
  const pids = processTree(pid);
  const before = readCpu(pids);
  const result = await new Promise((resolve, reject) => {
    loader.child.once('message', resolve);
    void loader.exit.then(() => reject(new Error(`The load generator ended:\n${loader.output}`)));
    const body = scenarios.json.body(pinnedModel);
    loader.child.send({ connections, count: requests, seconds: 30, port, path: '/v1/chat/completions', key, body });
  });
  if (result.ok < requests) throw new Error(`${result.ok} of ${requests} answers were 200: ${result.sample}`);
  return cpuBetween(before, readCpu(pids)) / requests;
}
