/**
 * What a second worker is worth: the same gateway with one worker and with two, each held to a share of a core by a control group, so
 * that the rest of the machine (load, upstream, stores) cannot limit the figures.
 */
import { existsSync, mkdirSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processTree } from './cpu.mjs';
import { LeftOut } from './left-out.mjs';
import { startLodestone } from './lodestone.mjs';
import { stop } from './processes.mjs';
import { startRedis } from './redis.mjs';
import { scenarios } from './scenarios.mjs';

const groups = '/sys/fs/cgroup/cpu';
const periodUs = 10_000;
const share = 0.4;
const load = { connections: 64, count: 1e6, seconds: 4 };
const warmCount = 40_000;

/** Resolves to one ratio of requests a second a round. */
export async function measureWorkerGain(rig, rounds) {
  if (!existsSync(join(groups, 'cpu.cfs_quota_us')))
    throw new LeftOut('there are no control groups of version 1 to hold a worker to a share of a core');
  await rig.releaseAll();
  const redis = await startRedis(rig);
  rig.log(`workers: one and two of them, each held to ${share} of a core, ${load.connections} connections`);
  const held = [];
  process.once('exit', () => removeGroups(held));
  const gateways = [];
  for (const workers of [1, 2]) gateways.push(await startWorkers(rig, redis, workers, held));
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    const perSecond = [];
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const result = await rig.load(gateways[at], scenarios.json, load);
      perSecond[at] = result.ok / result.elapsed;
    }
    ratios.push(perSecond[1] / perSecond[0]);
  }
  for (const { entry } of gateways) await stop(entry);
  removeGroups(held);
  return ratios;
}

async function startWorkers(rig, redis, workers, held) {
  // A database of Redis for each, or they would be one fleet.
  const more = { workers, storage: { redis_url: `${redis.url}/${workers}` } };
  const gateway = await startLodestone({ ...rig.place(`workers-${workers}`), more });
  const pids = workers === 1 ? [gateway.pid] : nodesUnder(gateway.pid);
  if (pids.length !== workers) throw new Error(`Expected ${workers} workers, found ${pids.length}.`);
  const contender = { ...gateway, name: `${workers} workers`, path: '/v1/chat/completions' };
  // Before they are held: compiling what is used often takes longer than all rounds at a share of a core, and each worker does it anew.
  await rig.load(contender, scenarios.json, { ...load, count: warmCount * workers, seconds: 20 });
  for (const pid of pids) held.push(hold(pid));
  return contender;
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

function hold(pid) {
  const group = join(groups, `lodestone-bench-${process.pid}-${pid}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(periodUs * share)));
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
  } catch (error) {
    throw new LeftOut(`control groups need root here: ${error.message}`);
  }
  return group;
}

function removeGroups(held) {
  for (const group of held.splice(0)) {
    try {
      rmdirSync(group);
    } catch {
      // Its process is still ending; an empty group is left behind.
    }
  }
}
