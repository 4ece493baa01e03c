/**
 * `npm run bench`: what a request and a streamed chunk cost in Lodestone, beside a bare proxy measured in the same run. Short
 * measurements are interleaved in random order over rounds; CPU is that of the gateway's whole process tree, its store included.
 *
 *   npm run bench -- [--rounds 5] [--scen json,paced,max,rate,burst] [--scale 1] [--only lodestone,bare] [--name run]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { reference, startContenders } from './contenders.mjs';
import { canMeasureCpu, coreBusyUs, cpuBetween, processTree, readCpu } from './cpu.mjs';
import { gatewayCore, killAll, pinning, printed, startOnLoadCore, stopAll } from './processes.mjs';
import { summarise, tableText } from './report.mjs';
import { scenarios } from './scenarios.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    scen: { type: 'string', default: 'json,paced,max,rate' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string' },
    name: { type: 'string', default: 'latest' },
  },
});
/** Repeat a measurement while others use more than this share of the gateway's core. */
const foreignShareMax = 0.1;
const repeatsMax = 3;

if (!(await prepareOrExplain())) process.exit(1);
const folder = mkdtempSync(join(tmpdir(), 'lodestone-bench-'));
process.once('exit', () => {
  killAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const names = flags.scen.split(',');
for (const name of names)
  if (!scenarios[name]) fail(`There is no scenario "${name}"; there are ${Object.keys(scenarios).join(', ')}.`);

const upstreamPort = Number(await printed(startOnLoadCore(join(here, 'upstream.mjs')), /port (\d+)/));
const loader = startOnLoadCore(join(here, 'load.mjs'), { ipc: true });
const contenders = await startContenders({ upstreamPort, folder, only: flags.only?.split(',') });
console.log(`${contenders.map(({ name }) => name).join(', ')}; ${pinning}.`);
if (!canMeasureCpu) console.log('This system has no /proc, so CPU is not measured; compare requests a second instead.');

const measurements = [];
for (const name of names) await measureScenario(name);
await stopAll();
save();

async function measureScenario(name) {
  const scenario = scenarios[name];
  console.log(`\n${name}: ${scenario.what}`);
  for (const contender of contenders) await job(contender, scenario, scenario.warm);
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const contender of shuffled(contenders)) {
      measurements.push({ scenario: name, round, name: contender.name, ...(await measure(contender, scenario)) });
    }
  }
  console.log(tableText(summarise(measurements, name, reference), scenario.run.stream));
}

async function measure(contender, scenario) {
  // A runtime that has been idle is cold again; a third of the work brings it back to speed.
  if (!scenario.run.rate) await job(contender, scenario, scaled(scenario.run, 0.3));
  for (let repeat = 1; ; repeat++) {
    const result = await measureOnce(contender, scenario);
    if (!(result.foreignShare > foreignShareMax) || repeat === repeatsMax) return result;
  }
}

async function measureOnce(contender, scenario) {
  const spec = scaled(scenario.run, Number(flags.scale));
  const pids = contender.pid && canMeasureCpu ? processTree(contender.pid) : undefined;
  if (!pids) return { load: await job(contender, scenario, spec), cpuUs: Number.NaN, rssBytes: Number.NaN };
  const startedAt = performance.now();
  const [before, ownBefore, busyBefore] = [readCpu(pids), readCpu([contender.pid]), coreBusyUs(gatewayCore)];
  const load = await job(contender, scenario, spec);
  const [after, ownAfter, busyAfter] = [readCpu(pids), readCpu([contender.pid]), coreBusyUs(gatewayCore)];
  const cpuUs = cpuBetween(before, after);
  const ownUs = cpuBetween(ownBefore, ownAfter);
  const elapsedUs = (performance.now() - startedAt) * 1000;
  const foreignShare = (busyAfter - busyBefore - cpuUs) / elapsedUs;
  return { load, cpuUs, ownUs, rssBytes: after.rssBytes, foreignShare };
}

async function job({ name, port, path, key, model }, scenario, spec) {
  loader.child.send({ ...spec, port, path, key, body: scenario.body(model) });
  const result = await new Promise((resolve, reject) => {
    loader.child.once('message', resolve);
    void loader.exit.then(() => reject(new Error(`The load generator ended:\n${loader.output}`)));
  });
  if (result.ok === 0)
    fail(`${name} answered nothing right (${result.errors} errors). An answer was:\n${result.sample}`);
  return result;
}

function scaled(spec, factor) {
  return { ...spec, count: Math.max(spec.connections, Math.round(spec.count * factor)) };
}

function shuffled(list) {
  return list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

function save() {
  mkdirSync(join(here, 'out'), { recursive: true });
  const file = join(here, 'out', `${flags.name}.json`);
  const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, pinning };
  const summary = Object.fromEntries(names.map((name) => [name, summarise(measurements, name, reference)]));
  writeFileSync(file, JSON.stringify({ at: new Date().toISOString(), machine, flags, summary, measurements }, null, 1));
  console.log(`\nWritten to bench/out/${flags.name}.json.`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
