/**
 * `node bench/own-keys.mjs`: what a customer's own credential costs a request beside the operator's, in turns in one run (`cost`); what
 * a refused one costs beside one that serves (`refused`); what 100 customers with bad credentials do to one with a good one at the same
 * route (`beside`); and what 10,000 credentials in use change of the first, of a start, of memory and of lists (`stored`). Where other
 * work runs on the machine, `--only instructions` compares the instructions of each process instead of CPU time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { cpuBetween, memoryMb, processTree, readCpu } from './cpu.mjs';
import { pinnedModel } from './lodestone.mjs';
import { Loader, modelOf, OwnKeysGateway, providers } from './own-keys-gateway.mjs';
import { canCountInstructions, instructionsOf } from './own-keys-instructions.mjs';
import { killAll, stopAll } from './processes.mjs';
import { median, percentile, ratioOfPooled, summaryOf } from './statistics.mjs';

const text = (initial) => ({ type: 'string', default: initial });
const { values } = parseArgs({
  options: {
    rounds: text('20'),
    requests: text('2000'),
    stored: text('10000'),
    only: text('cost,refused,beside,stored'),
  },
});
const [rounds, requests, stored] = [values.rounds, values.requests, values.stored].map(Number);
const parts = new Set(values.only.split(','));

const badTenants = 100;
const badRate = 50;
const goodRate = 200;
const secondsOfRate = 4;
const atOnce = 8;
const restMs = 1_500;

const folder = mkdtempSync(join(tmpdir(), 'lodestone-own-keys-'));
process.once('exit', () => {
  killAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
if (!(await prepareOrExplain())) process.exit(1);

const gateway = await new OwnKeysGateway(folder).open();
const [loader, others] = [new Loader(gateway), new Loader(gateway)];
const operators = await gateway.account('operators');
const good = await gateway.account('good', 'good-key');
const bad = [];
const fine = [];
await loader.run([operators, good], { connections: 32, count: 4 * requests });
if (parts.has('cost')) await compare('A few credentials');
if (parts.has('instructions')) await compareInstructions();
if (parts.has('refused') || parts.has('beside')) {
  for (let n = 0; n < badTenants; n++) bad.push(await gateway.account(`bad-${n}`, `bad-key-${n}`));
  for (let n = 0; n < badTenants; n++) fine.push(await gateway.account(`fine-${n}`, `good-key-${n}`));
  await loader.run([...bad, ...fine], { connections: 32, count: 2 * requests });
}
if (parts.has('refused')) await compareRefused();
if (parts.has('beside')) await beside();
if (parts.has('stored')) await store();
await stopAll();

function rest() {
  return new Promise((resolve) => setTimeout(resolve, restMs));
}

/** Microseconds of CPU a request, with what is settled after the answers, and the median latency. */
async function costOf(accounts, { count = requests, field = 'ok', ...spec } = {}) {
  await rest();
  const before = readCpu(processTree(gateway.pid));
  const result = await loader.run(accounts, { connections: 32, count, ...spec });
  if (result[field] < count) throw new Error(`${result[field]} of ${count} answers were ${field}: ${result.sample}`);
  await rest();
  return { cpu: cpuBetween(before, readCpu(processTree(gateway.pid))) / count, p50: result.p50Us };
}

/** The order changes, so that neither always runs after the other. */
async function inTurns(measures) {
  const results = measures.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = measures.map((_, i) => (i + round) % measures.length);
    const isReversed = Math.floor(round / measures.length) % 2 === 1;
    for (const i of isReversed ? order.toReversed() : order) results[i].push(await measures[i]());
  }
  return results;
}

async function compare(title) {
  const [theirs, own] = await inTurns([() => costOf([operators]), () => costOf([good])]);
  printRatios(`${title}: an own credential beside the operator’s`, own, theirs);
}

/**
 * The lower quartile of the rounds: what else a process does meanwhile adds to it, and a round whose records were settled late lacks some.
 * Each side is measured twice, with another account, so that the difference between equals shows.
 */
async function compareInstructions() {
  if (!canCountInstructions) throw new Error('`perf` cannot count instructions here.');
  const sides = [operators, await gateway.account('operators-2'), good, await gateway.account('good-2', 'good-key-2')];
  const ask = async (account) => {
    const result = await loader.run([account], { connections: 32, count: requests });
    if (result.ok < requests) throw new Error(`${result.ok} of ${requests} were 200: ${result.sample}`);
  };
  for (const account of sides) await loader.run([account], { connections: 32, count: 4 * requests });
  const measured = await inTurns(sides.map((account) => () => instructionsOf(gateway.pid, () => ask(account))));
  const print = (title, [a, b, c, d]) => {
    const thousands = [a, b, c, d].map((each) => (each / requests / 1000).toFixed(1)).join(', ');
    const equals = `${(b / a).toFixed(4)} and ${(d / c).toFixed(4)} ×`;
    console.log(`${title}: ${((c + d) / (a + b)).toFixed(4)} × (equals ${equals}; thousands a request ${thousands})`);
  };
  const sums = sides.map(() => 0);
  const byValue = (a, b) => a - b;
  for (const kind of Object.keys(measured[0][0])) {
    const low = measured.map((rounds) => percentile(rounds.map((counts) => counts[kind]).sort(byValue), 0.25));
    for (const [i, value] of low.entries()) sums[i] += value;
    print(`Instructions of an own credential beside the operator’s, ${kind}`, low);
  }
  print('Instructions of an own credential beside the operator’s, all', sums);
}

async function compareRefused() {
  const [served, refused] = await inTurns([() => costOf(fine), () => costOf(bad, { field: 'non200' })]);
  printRatios('A refused credential beside one that serves', refused, served);
}

function printRatios(title, over, under) {
  for (const name of ['cpu', 'p50']) {
    const { value, low, high } = summaryOf(over.map((each, i) => each[name] / under[i][name]));
    const [a, b] = [under, over].map((all) => median(all.map((each) => each[name])).toFixed(1));
    const range = `${low.toFixed(3)} to ${high.toFixed(3)}, ${over.length} rounds`;
    console.log(`${title}: ${name} ${value.toFixed(3)} × (${range}; ${a} and ${b} µs)`);
  }
}

/**
 * The latency of the good one at a fixed rate, by turns alone, beside customers with good credentials, and beside as many with bad ones at
 * the same rate. All samples of a kind are one, because the p99 of a round is the eighth of its slowest requests. The gateway runs on all
 * cores, as users run it: on one alone its settler and its store, which come in bursts, would make most of the p99.
 */
async function beside() {
  await gateway.restart(null);
  await loader.run([good, ...bad, ...fine], { connections: 32, count: 8 * requests });
  const asks = (accounts, rate, samples) =>
    loaderOf(accounts).run(accounts, { connections: 32, rate, count: rate * secondsOfRate, samples });
  const loaderOf = (accounts) => (accounts.length === 1 ? loader : others);
  const measure = (accounts) => async () => {
    const asking = accounts && asks(accounts, badRate, false);
    const result = await asks([good], goodRate, true);
    if (result.ok !== result.sent) throw new Error(`${result.ok} of ${result.sent} were 200: ${result.sample}`);
    await asking;
    return result.latenciesUs;
  };
  const [alone, besideFine, besideBad] = await inTurns([measure(null), measure(fine), measure(bad)]);
  const pooled = (samples) => samples.flat().sort((a, b) => a - b);
  for (const share of [0.5, 0.9, 0.99]) {
    const of = (samples) => `${percentile(pooled(samples), share)} µs`;
    const to = (samples) => {
      const { value, low, high } = ratioOfPooled(besideBad, samples, share);
      return `${value.toFixed(3)} × (95 % between ${low.toFixed(3)} and ${high.toFixed(3)})`;
    };
    console.log(
      `p${share * 100} of a good one: ${of(alone)} alone, ${of(besideFine)} beside ${badTenants} good ones, ${of(besideBad)} beside ${badTenants} bad ones; bad beside good ${to(besideFine)}, beside nobody ${to(alone)}; ${alone.flat().length} requests each`,
    );
  }
  const { data } = await gateway.admin('/routes');
  const route = data.find(({ id }) => id === pinnedModel);
  console.log(`The breaker of the route is ${route.breaker}, its error rate ${route.error_rate}.`);
}

/** As many credentials as are wanted, ten an account, each used once, so that all of them are in memory. */
async function store() {
  const accounts = [];
  const few = await look([good]);
  const startedAt = performance.now();
  const passed = () => ((performance.now() - startedAt) / 1000).toFixed(0);
  let next = 0;
  const make = async () => {
    while (next * providers.length < stored) {
      const n = next++;
      accounts.push(await gateway.account(`many-${n}`, `good-key-${n}`, providers));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, make));
  console.log(`${accounts.length * providers.length} credentials are stored; it took ${passed()} s.`);
  const many = await look(accounts);
  for (const name of Object.keys(few))
    console.log(`${name}: ${few[name].toFixed(1)} with few credentials, ${many[name].toFixed(1)} with ${stored}`);
  await compare(`${stored} credentials`);
}

/** A start, the memory once all credentials of these accounts are in use, after as many requests, and the list of one account. */
async function look(accounts) {
  const startMs = await gateway.restart();
  const startMb = memoryMb([gateway.pid]);
  const used = accounts.length === 1 ? ['openai'] : providers;
  for (const provider of used)
    await loader.run(accounts, { model: modelOf(provider), connections: 8, count: stored / used.length });
  await loader.run([operators, good], { connections: 32, count: 4 * requests });
  await rest();
  const memory = memoryMb([gateway.pid]);
  const allMemory = memoryMb(processTree(gateway.pid));
  const lists = [];
  for (let n = 0; n < 20; n++) {
    const startedAt = performance.now();
    await gateway.admin(`/accounts/${good.id}/credentials`);
    lists.push(performance.now() - startedAt);
  }
  return {
    'start, ms': startMs,
    'memory of the serving process after the start, MB': startMb,
    'and with all of them in use, MB': memory,
    'and with settler and store, MB': allMemory,
    'list of an account, ms': median(lists),
  };
}
