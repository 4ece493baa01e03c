/**
 * What the rows measure with: the upstream, the load generator, and gateways that are started when a row first asks for them.
 * `compare` measures several gateways under one load, in turns and in random order over rounds; rows that need the same comparison
 * share it.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { starters } from './contenders.mjs';
import { coreBusyUs, cpuBetween, processTree, readCpu } from './cpu.mjs';
import { LeftOut } from './left-out.mjs';
import { gatewayCore, loadCore, pinned, printed, startOnLoadCore, stop } from './processes.mjs';
import { scenarios } from './scenarios.mjs';
import { median, pairByRound } from './statistics.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Repeat a measurement while others use more than this share of a core. */
const foreignShareMax = 0.1;
const repeatsMax = 3;
/** A gateway rests when it used less than this share of a core for so long. */
const restShare = 0.05;
const restMs = 150;
const restWindowsMax = 30;

export class Rig {
  /** `scale` shortens every load; `extraStarters` are gateways beyond those of bench/contenders.mjs, by name. */
  constructor({ folder, rounds, scale = 1, extraStarters = {}, log = console.log }) {
    Object.assign(this, { folder, rounds, scale, log });
    this.starters = { ...starters, ...extraStarters };
    this.contenders = new Map();
    this.comparisons = new Map();
    this.freshCount = 0;
    this.repeats = 0;
    this.disturbed = 0;
  }

  async open() {
    this.upstream = startOnLoadCore(process.execPath, [join(here, 'upstream.mjs')]);
    this.upstreamPort = Number(await printed(this.upstream, /port (\d+)/));
    this.loader = startOnLoadCore(process.execPath, [join(here, 'load.mjs')], { ipc: true });
    return this;
  }

  /** Where a gateway of this name finds its upstream and keeps its files. */
  place(name) {
    return { upstreamPort: this.upstreamPort, folder: join(this.folder, name) };
  }

  contender(name) {
    const defaults = { name, path: '/v1/chat/completions', key: 'none', model: 'gpt-4o-mini' };
    const starting =
      this.contenders.get(name) ?? this.starters[name](this).then((started) => ({ ...defaults, ...started, name }));
    this.contenders.set(name, starting);
    return starting;
  }

  /** A gateway that nobody needs any more would only disturb. */
  async release(name) {
    const { entry } = await this.contenders.get(name);
    this.contenders.delete(name);
    if (entry) await stop(entry);
  }

  /** For a measurement that needs the whole machine, after which there is no other. */
  async releaseAll() {
    for (const name of [...this.contenders.keys()]) await this.release(name);
  }

  /** Resolves to a Comparison; the same arguments give the same one. */
  compare(scenarioName, names, { rounds = this.rounds } = {}) {
    const id = `${scenarioName} ${names.join()}`;
    const comparing = this.comparisons.get(id) ?? this.measureAll(scenarioName, names, rounds);
    this.comparisons.set(id, comparing);
    return comparing;
  }

  async measureAll(scenarioName, names, rounds) {
    const scenario = scenarios[scenarioName];
    const { contenders, absent } = await this.startAll(names);
    this.log(`${scenarioName}: ${scenario.what}; ${contenders.map(({ name }) => name).join(', ')}`);
    for (const contender of contenders) await this.load(contender, scenario, scenario.warm);
    const measurements = [];
    for (let round = 0; round < rounds; round++) {
      for (const contender of shuffled(contenders))
        measurements.push({ round, name: contender.name, ...(await this.measure(contender, scenario)) });
    }
    const comparison = new Comparison(measurements, scenario.unit, absent);
    for (const { name } of contenders) this.log(`  ${comparison.text(name)}`);
    return comparison;
  }

  /** The rest is compared where one is not installed. */
  async startAll(names) {
    const contenders = [];
    const absent = new Map();
    for (const name of names) {
      try {
        contenders.push(await this.contender(name));
      } catch (error) {
        if (!(error instanceof LeftOut)) throw error;
        absent.set(name, error);
      }
    }
    return { contenders, absent };
  }

  async measure(contender, scenario) {
    // A runtime that has been idle is cold again; a third of the work brings it back to speed.
    if (!scenario.run.rate) await this.load(contender, scenario, scenario.run, 0.3);
    await rested(contender);
    return this.undisturbed(() => this.measureOnce(contender, scenario));
  }

  /** Repeats a measurement that other programs disturbed, a few times at most. */
  async undisturbed(measureOnce) {
    for (let repeat = 1; ; repeat++) {
      const result = await measureOnce();
      if (!(result.foreignShare > foreignShareMax)) return result;
      if (repeat === repeatsMax) {
        this.disturbed++;
        return result;
      }
      this.repeats++;
    }
  }

  async measureOnce(contender, scenario) {
    const pids = contender.pid ? processTree(contender.pid) : [];
    const own = [this.loader.child.pid, this.upstream.child.pid, process.pid];
    const read = () => ({
      at: performance.now(),
      gateway: readCpu(pids),
      serving: readCpu(pids.slice(0, 1)),
      own: readCpu(own),
      busy: [gatewayCore, loadCore].map((core) => coreBusyUs(core)),
    });
    const before = read();
    const load = await this.load(contender, scenario, scenario.run);
    await rested(contender);
    const after = read();
    const cpuUs = cpuBetween(before.gateway, after.gateway);
    const elapsedUs = (after.at - before.at) * 1000;
    const servingUs = cpuBetween(before.serving, after.serving);
    return { load, cpuUs, servingUs, foreignShare: foreignShare(before, after, cpuUs) / elapsedUs };
  }

  /** One job of the load generator. Answers other than 200 are an error of the set-up, never a figure. */
  async load({ name, port, path, key, model, headers, request }, { body }, spec, factor = 1) {
    const count = Math.max(spec.connections, Math.round(spec.count * factor * (spec.gapsFromSeconds ? 1 : this.scale)));
    const sent = request ? JSON.stringify(request(JSON.parse(body(model)))) : body(model);
    const result = await this.job({ ...spec, count, port, path, key, headers, body: sent });
    if (result.ok === 0 || result.non200 > 0)
      throw new Error(`${name}: ${result.non200} of ${result.sent} answers were not 200. One was:\n${result.sample}`);
    return result;
  }

  async job(spec) {
    const { child, exit } = this.loader;
    return new Promise((resolve, reject) => {
      child.once('message', resolve);
      void exit.then(() => reject(new Error(`The load generator ended:\n${this.loader.output}`)));
      child.send(spec);
    });
  }
}

/** Records are stored after their answers: that work counts too, and must not disturb the next measurement. */
async function rested({ pid }) {
  if (!pid) return;
  for (let window = 0; window < restWindowsMax; window++) {
    const pids = processTree(pid);
    const before = readCpu(pids);
    await pause(restMs);
    if (readCpu(pids).fineUs - before.fineUs < restShare * restMs * 1000) return;
  }
}

/** Microseconds of the busier core that neither the gateway nor the benchmark itself used. */
function foreignShare(before, after, gatewayUs) {
  const ownUs = cpuBetween(before.own, after.own);
  const [gatewayBusy, loadBusy] = after.busy.map((busy, i) => busy - before.busy[i]);
  if (!pinned) return gatewayBusy + loadBusy - gatewayUs - ownUs;
  return Math.max(gatewayBusy - gatewayUs, loadBusy - ownUs);
}

/** The measurements of one comparison; each method returns one value a round, and throws LeftOut for a gateway that is not there. */
export class Comparison {
  constructor(measurements, unit, absent = new Map()) {
    Object.assign(this, { measurements, unit, absent });
  }

  of(name) {
    if (this.absent.has(name)) throw this.absent.get(name);
    return this.measurements.filter((entry) => entry.name === name);
  }

  /** The medians of one gateway, in words. */
  text(name) {
    const figure = (field) => Math.round(median(this.latency(name, field)));
    const cpu = median(this.cpu(name));
    const serving = median(this.of(name).map(({ servingUs, load }) => servingUs / load[this.unit]));
    const parts = [
      `${name}: ${cpu.toFixed(1)} µs CPU a ${this.unit === 'ok' ? 'request' : 'chunk'} (serving ${serving.toFixed(1)})`,
    ];
    if (this.unit === 'ok')
      parts.push(`p50 ${figure('p50Us')} µs, p99 ${figure('p99Us')} µs, ${figure('perSecond')}/s`);
    else parts.push(`first p99 ${figure('firstFrameP99Us')} µs, gap p99 ${figure('gapP99Us')} µs`);
    return parts.join('; ');
  }

  cpu(name) {
    return this.of(name).map((entry) => this.unitCpu(entry));
  }

  cpuRatio(name, other) {
    return pairByRound(this.of(name), this.of(other), (a, b) => this.unitCpu(a) / this.unitCpu(b));
  }

  /** Of the process that answers, without the settler and PostgreSQL, which it has started. */
  servingCpuRatio(name, other) {
    const each = ({ servingUs, load }) => servingUs / load[this.unit];
    return pairByRound(this.of(name), this.of(other), (a, b) => each(a) / each(b));
  }

  /** `field` is one of the load generator's figures, such as p99Us. */
  latency(name, field) {
    return this.of(name).map(({ load }) => load[field]);
  }

  /** Of whole streams, for answers whose numbers of frames differ. */
  streamCpuRatio(name, other) {
    return pairByRound(this.of(name), this.of(other), (a, b) => a.cpuUs / a.load.ok / (b.cpuUs / b.load.ok));
  }

  latencyRatio(name, other, field) {
    return pairByRound(this.of(name), this.of(other), (a, b) => a.load[field] / b.load[field]);
  }

  /** Above `direct`, in microseconds. */
  added(name, field) {
    return pairByRound(this.of(name), this.of('direct'), (a, b) => a.load[field] - b.load[field]);
  }

  unitCpu({ cpuUs, load }) {
    return cpuUs / load[this.unit];
  }
}

function shuffled(list) {
  return list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
