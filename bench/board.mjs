/** What `npm run bench:compare` measures of each gateway: the columns of public gateway benchmarks, and the CPU of a request. */
import { setTimeout as pause } from 'node:timers/promises';
import { memoryMb, processTree } from './cpu.mjs';
import { scenarios } from './scenarios.mjs';
import { highestRate, median } from './statistics.mjs';

const settleMs = 2_000;
const trySeconds = 1.2;
const rateMost = 30_000;
const streamSteps = [250, 500, 1_000, 2_000, 4_000];
/** Streams are held while 99 of 100 chunks come at most this long after the one before, at one each 50 ms. */
const heldGapUs = 100_000;

/** In the order of the table. */
export const columns = [
  { name: 'cpuUs', title: 'CPU a JSON request, µs' },
  { name: 'addedP99Us', title: 'added p99 at one connection, µs' },
  { name: 'rate1', title: 'requests/s at p99 < 1 ms' },
  { name: 'rate5', title: '< 5 ms' },
  { name: 'rate10', title: '< 10 ms' },
  { name: 'firstTokenUs', title: 'added first-token p99, µs' },
  { name: 'tokenGapUs', title: 'added per-token p99, µs' },
  { name: 'streams', title: 'streams held' },
  { name: 'idleMb', title: 'memory idle, MB' },
  { name: 'loadedMb', title: 'loaded, MB' },
];

export async function measureGateway(rig, name) {
  const contender = await rig.contender(name);
  await pause(settleMs);
  const memory = () => memoryMb(processTree(contender.pid));
  const figures = { idleMb: memory() };
  const json = await rig.compare('json', [name]);
  figures.cpuUs = median(json.cpu(name));
  figures.loadedMb = memory();
  const single = await rig.compare('single', ['direct', name]);
  figures.addedP99Us = median(single.added(name, 'p99Us'));
  Object.assign(figures, await measureRates(rig, contender));
  Object.assign(figures, await measureStreams(rig, contender));
  figures.loadedMb = Math.max(figures.loadedMb, memory());
  await rig.release(name);
  return figures;
}

/** The slackest bound first: a stricter one never allows a higher rate. */
async function measureRates(rig, contender) {
  const rates = {};
  let most = rateMost;
  for (const [name, boundUs] of [
    ['rate10', 10_000],
    ['rate5', 5_000],
    ['rate1', 1_000],
  ]) {
    rates[name] = await highestRate({
      from: Math.min(200, most),
      least: 12,
      most,
      holds: async (rate) => {
        // Fewer than 200 answers would make one pause of the machine the p99.
        const count = Math.max(200, Math.ceil(rate * trySeconds));
        const spec = { connections: 256, count, seconds: count / rate + 0.5, rate };
        const { ok, p99Us } = await offered(rig, contender, scenarios.json, spec);
        return ok >= spec.count * 0.98 && p99Us <= boundUs;
      },
    });
    most = rates[name];

    rig.log(`  ${contender.name}: ${rates[name]} requests/s with p99 under ${boundUs / 1000} ms`);
  }
  return rates;
}

async function measureStreams(rig, contender) {
  const none = { firstTokenUs: Number.NaN, tokenGapUs: Number.NaN, streams: 0 };
  const probe = await offered(rig, contender, scenarios.paced, scenarios.paced.warm);
  if (probe.non200 > 0 || probe.frames === 0) return none;
  const paced = await rig.compare('paced', ['direct', contender.name]);
  const figures = {
    firstTokenUs: median(paced.added(contender.name, 'firstFrameP99Us')),
    tokenGapUs: median(paced.added(contender.name, 'gapP99Us')),
    streams: 0,
  };
  for (const count of streamSteps) {
    const ramp = count / 1_000;
    const spec = {
      connections: count,
      count,
      rate: 1_000,
      seconds: ramp + 4,
      gapsFromSeconds: ramp + 0.5,
      stream: true,
    };
    const { started, errors, non200, gapP99Us } = await offered(rig, contender, scenarios.streams, spec);
    if (started < count || errors > 0 || non200 > 0 || gapP99Us > heldGapUs) break;
    figures.streams = count;
    // Streams that were cut off are settled before the next step.
    await pause(settleMs);
  }
  rig.log(`  ${contender.name}: ${figures.streams} streams held`);
  return figures;
}

/** A load under which answers may fail: that is what is measured. */
function offered(rig, { port, path, key, model, headers }, { body }, spec) {
  return rig.job({ ...spec, port, path, key, headers, body: body(model) });
}
