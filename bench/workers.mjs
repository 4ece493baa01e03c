/**
 * Measures the gain of a second worker: the same gateway with one worker and with two, each limited to a share of a core, so that
 * the rest of the machine (load, upstream, stores) cannot limit the figures. The table shows how much of its core each part used.
 * Needs Linux control groups (root) and a Redis.
 *
 *   node bench/workers.mjs --redis redis://127.0.0.1:6379 [--share 0.25] [--rounds 5] [--seconds 6] [--connections 128]
 */
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { startLodestone } from './contenders.mjs';
import { cpuBetween, processTree, readCpu } from './cpu.mjs';
import { killAll, printed, startOnLoadCore, stopAll } from './processes.mjs';
import { scenarios } from './scenarios.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const { values: flags } = parseArgs({
  options: {
    redis: { type: 'string' },
    share: { type: 'string', default: '0.25' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '128' },
  },
});
const groups = '/sys/fs/cgroup/cpu';
const periodUs = 10_000;

if (!flags.redis) fail('Name a Redis: --redis redis://127.0.0.1:6379');
if (!existsSync(join(groups, 'cpu.cfs_quota_us')))
  fail('There are no control groups (version 1) to hold workers with.');
if (!(await prepareOrExplain())) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'lodestone-workers-'));
const made = [];
process.once('exit', () => {
  killAll();
  for (const group of made) removeGroup(group);
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const upstream = startOnLoadCore(join(here, 'upstream.mjs'));
const upstreamPort = Number(await printed(upstream, /port (\d+)/));
const loader = startOnLoadCore(join(here, 'load.mjs'), { ipc: true });
const contenders = [];
for (const workers of [1, 2]) contenders.push(await startFleet(workers));

const results = [];
for (let round = -1; round < Number(flags.rounds); round++) {
  for (const contender of round % 2 === 0 ? contenders : [...contenders].reverse()) {
    const result = await measure(contender);
    // The first round warms up.
    if (round >= 0) results.push({ round, ...result });
  }
}
report();
await stopAll();

async function startFleet(workers) {
  const at = join(folder, String(workers));
  const more = { workers, storage: { redis_url: `${flags.redis}/${workers}` } };
  const gateway = await startLodestone({ upstreamPort, folder: at }, undefined, more);
  const pids = workers === 1 ? [gateway.pid] : nodesUnder(gateway.pid);
  if (pids.length !== workers) fail(`Expected ${workers} workers, found ${pids.length}.`);
  for (const one of pids) hold(one, `lodestone-bench-${process.pid}-${one}`);
  return { ...gateway, workers, pids };
}

/** The processes that run node, without the primary itself. */
function nodesUnder(primaryPid) {
  return processTree(primaryPid).filter((pid) => pid !== primaryPid && isNode(pid));
}

function isNode(pid) {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === readlinkSync('/proc/self/exe');
  } catch {
    // It ended while we were looking.
    return false;
  }
}

function hold(pid, name) {
  const group = join(groups, name);
  mkdirSync(group);
  made.push(group);
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs));
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(periodUs * Number(flags.share))));
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
}

function removeGroup(group) {
  try {
    rmdirSync(group);
  } catch {
    // Its process is still ending; an empty group is left behind.
  }
}

async function measure({ workers, pids, pid, port, key, model }) {
  const parts = {
    worker: pids,
    loader: [loader.child.pid],
    upstream: [upstream.child.pid],
    others: othersOf(pid, pids),
  };
  const before = Object.values(parts).map((list) => readCpu(list));
  const startedAt = performance.now();
  const spec = { connections: Number(flags.connections), count: 1e9, seconds: Number(flags.seconds) };
  const { json } = scenarios;
  loader.child.send({ ...spec, port, path: '/v1/chat/completions', key, body: json.body(model) });
  const load = await new Promise((resolve) => loader.child.once('message', resolve));
  const elapsedUs = (performance.now() - startedAt) * 1000;
  const shares = Object.fromEntries(
    Object.entries(parts).map(([name, list], i) => [name, cpuBetween(before[i], readCpu(list)) / elapsedUs]),
  );
  if (load.non200 > 0 || load.errors > 0) fail(`${load.non200} answers were not 200: ${load.sample}`);
  return { workers, perSecond: load.ok / (elapsedUs / 1e6), p50: load.p50, p99: load.p99, shares };
}

/** PostgreSQL and, with several workers, the primary. */
function othersOf(pid, workers) {
  return processTree(pid).filter((each) => !workers.includes(each));
}

function report() {
  const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
  const rows = [1, 2].map((workers) => {
    const own = results.filter((result) => result.workers === workers);
    const share = (name) => median(own.map(({ shares }) => shares[name]));
    return {
      workers,
      'requests a second': Math.round(median(own.map(({ perSecond }) => perSecond))),
      'workers (of a core)': share('worker').toFixed(2),
      'load generator': share('loader').toFixed(2),
      upstream: share('upstream').toFixed(2),
      'store and primary': share('others').toFixed(2),
    };
  });
  console.table(rows);
  const [one, two] = rows.map((row) => row['requests a second']);
  console.log(
    `Two workers serve ${(two / one).toFixed(2)} times the requests of one, each held to ${flags.share} of a core.`,
  );
  mkdirSync(join(here, 'out'), { recursive: true });
  const machine = { node: process.version, cores: cpus().length };
  writeFileSync(join(here, 'out', 'workers.json'), JSON.stringify({ machine, flags, rows, results }, null, 1));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
