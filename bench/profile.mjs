/**
 * `node bench/profile.mjs --load json`: where the CPU of a request goes. First by process and thread, then, for the main thread, by
 * folder of the source, from a CPU profile of V8. The profile costs CPU itself, so it gives the shares only: the microseconds are those
 * of a gateway without it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleMaps } from '../scripts/bundle.mjs';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { processTree } from './cpu.mjs';
import { startLodestone } from './lodestone.mjs';
import { killAll, stop, stopAll } from './processes.mjs';
import { startRedis } from './redis.mjs';
import { Rig } from './rig.mjs';
import { scenarios } from './scenarios.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'dist');
const usage = `node bench/profile.mjs [--load json] [--gateway lodestone] [--functions 0]

  --load       ${Object.keys(scenarios).join(', ')}
  --gateway    lodestone, without-proof or fleet (with a Redis)
  --functions  how many functions to show beside the folders`;
const gateways = ['lodestone', 'without-proof', 'fleet'];
const sampleUs = 100;
const profileWrittenMs = 60_000;
const areasShown = 24;

const flags = readFlags();
const scenario = scenarios[flags.load];

function readFlags() {
  const text = { type: 'string' };
  const options = {
    load: { ...text, default: 'json' },
    gateway: { ...text, default: 'lodestone' },
    functions: { ...text, default: '0' },
    help: { type: 'boolean', default: false, short: 'h' },
  };
  try {
    const { values } = parseArgs({ options });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    if (!Object.hasOwn(scenarios, values.load)) fail(`There is no load "${values.load}".`);
    if (!gateways.includes(values.gateway)) fail(`There is no gateway "${values.gateway}".`);
    if (!/^\d{1,4}$/.test(values.functions)) fail(`--functions takes a number, not "${values.functions}".`);
    return values;
  } catch (error) {
    return fail(error.message);
  }
}

function fail(text) {
  console.error(`${text}\n\n${usage}`);
  process.exit(1);
}

async function explain() {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-profile-'));
  process.once('exit', () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });
  const profileArgs = [
    '--cpu-prof',
    '--cpu-prof-interval',
    String(sampleUs),
    `--cpu-prof-dir=${join(folder, 'profiles')}`,
  ];
  const rig = await new Rig({
    folder,
    rounds: 1,
    log: () => {},
    extraStarters: {
      plain: (own) => startGateway(own, 'plain'),
      profiled: (own) => startGateway(own, 'profiled', profileArgs),
    },
  }).open();
  const threads = await threadCosts(rig);
  const { samples, units } = await profileOf(rig, join(folder, 'profiles'));
  await stopAll();
  printThreads(threads);
  await printAreas(samples, threads.perUnit.get(mainThread));
  console.log(
    `\n${flags.gateway}, ${scenario.what}; ${threads.units} and ${units} ${scenario.unit === 'ok' ? 'requests' : 'chunks'}.`,
  );
}

async function startGateway(rig, name, nodeArgs = []) {
  const more = {
    ...(flags.gateway === 'without-proof' && { proof: { enabled: false } }),
    ...(flags.gateway === 'fleet' && { storage: { redis_url: (await startRedis(rig)).url } }),
  };
  return startLodestone({ ...rig.place(name), more, nodeArgs });
}

const mainThread = 'main thread';
const helpers = "V8's and libuv's threads, and the side thread";

/** Microseconds of CPU so far, by process and thread. */
function readThreads(pid) {
  const sums = new Map();
  for (const each of processTree(pid)) {
    try {
      const program = each === pid ? null : readFileSync(`/proc/${each}/comm`, 'utf8').trim();
      for (const task of readdirSync(`/proc/${each}/task`)) {
        const us = Number(readFileSync(`/proc/${each}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
        const own = Number(task) === pid ? mainThread : helpers;
        const who = program === null ? own : program === 'postgres' ? 'PostgreSQL' : 'settler';
        sums.set(who, (sums.get(who) ?? 0) + us);
      }
    } catch {
      // It ended while we were looking.
    }
  }
  return sums;
}

async function threadCosts(rig) {
  const gateway = await rig.contender('plain');
  await warm(rig, gateway);
  await rested();
  const before = readThreads(gateway.pid);
  const { units } = await loadLonger(rig, gateway);
  await rested();
  const after = readThreads(gateway.pid);
  await stop(gateway.entry);
  return { units, perUnit: new Map([...after].map(([who, us]) => [who, (us - (before.get(who) ?? 0)) / units])) };
}

/** A slow load alone would leave most of the code uncompiled. */
async function warm(rig, gateway) {
  await rig.load(gateway, scenarios.json, scenarios.json.warm);
  await rig.load(gateway, scenario, scenario.warm);
}

/** Several rounds of the load, because one is over too soon for a profile. */
async function loadLonger(rig, gateway) {
  let units = 0;
  const from = monotonicUs();
  while (monotonicUs() - from < 6e6) units += (await rig.load(gateway, scenario, scenario.run))[scenario.unit];
  return { units, from };
}

/** What is settled after the answers is part of their cost. */
const rested = () => new Promise((resolve) => setTimeout(resolve, 2_500));
/** The clock of V8's profiles. */
const monotonicUs = () => Number(process.hrtime.bigint()) / 1_000;

async function profileOf(rig, folder) {
  const gateway = await rig.contender('profiled');
  await warm(rig, gateway);
  await rested();
  const { units, from } = await loadLonger(rig, gateway);
  await rested();
  const to = monotonicUs();
  await stop(gateway.entry, profileWrittenMs);
  // The settler and side threads have profiles of their own.
  const file = readdirSync(folder).find((name) => name.includes(`.${gateway.pid}.0.`));
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const found = [];
  let at = startTime;
  for (const [i, id] of samples.entries()) {
    at += timeDeltas[i];
    const frame = frames.get(id);
    if (at >= from && at <= to && frame.functionName !== '(idle)') found.push({ frame, us: timeDeltas[i] });
  }
  return { samples: found, units };
}

function printThreads({ perUnit }) {
  console.log(`| process or thread | µs |\n|---|---|`);
  for (const [who, us] of [...perUnit].sort((a, b) => b[1] - a[1])) console.log(`| ${who} | ${us.toFixed(1)} |`);
}

async function printAreas(samples, mainUs) {
  const areaOf = await areas();
  const total = samples.reduce((sum, { us }) => sum + us, 0);
  const byArea = new Map();
  const byFunction = new Map();
  for (const { frame, us } of samples) {
    const area = areaOf(frame);
    byArea.set(area, (byArea.get(area) ?? 0) + us);
    const name = `${frame.functionName || '(anonymous)'}, ${area}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + us);
  }
  printShares('part of the main thread', byArea, areasShown);
  if (Number(flags.functions) > 0) printShares('function of the main thread', byFunction, Number(flags.functions));

  function printShares(title, sums, shown) {
    console.log(`\n| ${title} | µs | share |\n|---|---|---|`);
    const sorted = [...sums].sort((a, b) => b[1] - a[1]);
    const line = (name, us) =>
      console.log(`| ${name} | ${((us / total) * mainUs).toFixed(1)} | ${((us / total) * 100).toFixed(1)} % |`);
    for (const [name, us] of sorted.slice(0, shown)) line(name, us);
    const rest = sorted.slice(shown).reduce((sum, [, us]) => sum + us, 0);
    if (rest > 0) line(`${sorted.length - shown} others`, rest);
  }
}

const writes = /^(writev|writeBuffer|write(Latin1|Utf8|Ascii|Ucs2)String)$/;

/** Resolves to a function that names the part of the gateway, of Node or of the system that a frame belongs to. */
async function areas() {
  const maps = new Map(
    [...(await bundleMaps(root))].map(([name, map]) => [name, new SourceMap(JSON.parse(map.toString()))]),
  );
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (url === '') {
      if (functionName === '(garbage collector)') return 'collecting garbage';
      if (writes.test(functionName)) return 'writing to sockets, in libuv and the kernel';
      return functionName === '(program)'
        ? 'reading sockets and waiting for them, in libuv and the kernel'
        : `built into Node: ${functionName}`;
    }
    const [, module] = /^node:(?:internal\/)?([^/]+)/.exec(url) ?? [];
    if (module) return `Node's own code: ${module}`;
    const map = maps.get(basename(url));
    const source = map?.findEntry(lineNumber, columnNumber).originalSource;
    const file = source ? join(compiled, 'bundle', source) : fileURLToPath(url);
    const place = relative(file.includes('/node_modules/') ? root : compiled, file);
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place) ?? [];
    return name ? `package ${name}` : `src/${place.split('/').slice(0, -1).slice(0, 2).join('/')}`;
  };
}

if (await prepareOrExplain()) await explain();
else process.exitCode = 1;
