/**
 * `node bench/own-keys.mjs`: what a customer's own credential costs a request beside the operator's, in turns in one run; what 100
 * customers with bad credentials do to one with a good one at the same route; and the first again with 10,000 credentials.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { cpuBetween, processTree, readCpu } from './cpu.mjs';
import { catalogueFor, freePort, pinnedModel, serverEnvironment } from './lodestone.mjs';
import { killAll, printed, start, startOnLoadCore, stopAll } from './processes.mjs';
import { scenarios } from './scenarios.mjs';
import { median, summaryOf } from './statistics.mjs';

const number = (text) => ({ type: 'string', default: text });
const { values } = parseArgs({ options: { rounds: number('10'), requests: number('2000'), stored: number('10000') } });
const [rounds, requests, stored] = [values.rounds, values.requests, values.stored].map(Number);

const here = fileURLToPath(new URL('.', import.meta.url));
const credentialsOfAccount = 50;
const badTenants = 100;
const badRate = 50;
const goodRate = 200;
const secondsOfRate = 4;
const unlimited = 1_000_000_000;

const folder = mkdtempSync(join(tmpdir(), 'lodestone-own-keys-'));
process.once('exit', () => {
  killAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
if (!(await prepareOrExplain())) process.exit(1);

const upstream = startOnLoadCore(process.execPath, [join(here, 'upstream.mjs')]);
const loader = startOnLoadCore(process.execPath, [join(here, 'load.mjs')], { ipc: true });
const gateway = await startGateway(Number(await printed(upstream, /port (\d+)/)));

const operators = await account('operators', null);
const good = await account('good', { api_key: 'good-key-0123456789' });
await costOf(operators, requests);
await costOf(good, requests);
await compare('first credentials');
const bad = [];
for (let n = 0; n < badTenants; n++) bad.push(await account(`bad-${n}`, { api_key: `bad-key-${n}-0123456789` }));
await beside();
await store();
await compare(`${stored} credentials`);
await stopAll();

async function startGateway(upstreamPort) {
  const { providers, ...catalogue } = catalogueFor(upstreamPort);
  const keyed = providers.map((each) =>
    each.id === 'openai' ? { ...each, auth: 'key', api_key_env: 'BENCH_OPERATOR_KEY' } : each,
  );
  const files = { catalogue: join(folder, 'catalogue.yaml'), config: join(folder, 'lodestone.yaml') };
  const adminToken = randomBytes(24).toString('hex');
  const limits = {
    ip_requests_per_minute: unlimited,
    key_requests_per_minute: unlimited,
    key_tokens_per_minute: unlimited,
  };
  const config = {
    server: { host: '127.0.0.1', port: await freePort() },
    ...{ storage: { data_dir: join(folder, 'data') }, demo: false, catalogue: [files.catalogue], limits },
  };
  // JSON is YAML too.
  writeFileSync(files.catalogue, JSON.stringify({ ...catalogue, providers: keyed }));
  writeFileSync(files.config, JSON.stringify(config));
  const program = join(here, '..', 'bin', 'lodestone');
  const entry = start(process.execPath, [program, 'serve', '--config', files.config], {
    env: { ...serverEnvironment(adminToken), BENCH_OPERATOR_KEY: 'operator-key-0123456789' },
    cwd: folder,
  });
  const url = await printed(entry, /(https?:\/\/[^\s/]+)[^\n]*\n/);
  return { url, port: Number(new URL(url).port), pid: entry.child.pid, adminToken };
}

async function admin(path, body, method = 'POST') {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function account(name, secret) {
  const { id } = await admin('/accounts', { email: `${name}@example.test` });
  await admin(`/accounts/${id}/credits`, { amount_usd: '1000000.00' });
  const { token } = await admin(`/accounts/${id}/keys`, { name: 'bench', expires: 'never' });
  if (secret) await admin(`/accounts/${id}/credentials`, { provider: 'openai', name, secret });
  return { id, token };
}

function load(by, key, spec) {
  const body = scenarios.json.body(pinnedModel);
  by.child.send({ port: gateway.port, path: '/v1/chat/completions', key, body, seconds: 60, ...spec });
}

function results(by, count) {
  return new Promise((resolve, reject) => {
    const found = [];
    const take = (result) => {
      found.push(result);
      if (found.length < count) return;
      by.child.off('message', take);
      resolve(found);
    };
    by.child.on('message', take);
    void by.exit.then(() => reject(new Error(`The load generator ended:\n${by.output}`)));
  });
}

/** Microseconds of CPU a request, and the median latency. */
async function costOf({ token }, count) {
  const pids = processTree(gateway.pid);
  const before = readCpu(pids);
  const answered = results(loader, 1);
  load(loader, token, { connections: 32, count });
  const [result] = await answered;
  if (result.ok < count) throw new Error(`${result.ok} of ${count} answers were 200: ${result.sample}`);
  return { cpu: cpuBetween(before, readCpu(pids)) / count, p50: result.p50Us };
}

async function compare(title) {
  const ratios = { cpu: [], p50: [] };
  for (let round = 0; round < rounds; round++) {
    const costs = new Map();
    // The order changes, so that neither always runs after the other.
    for (const each of round % 2 === 0 ? [operators, good] : [good, operators])
      costs.set(each, await costOf(each, requests));
    for (const name of ['cpu', 'p50']) ratios[name].push(costs.get(good)[name] / costs.get(operators)[name]);
  }
  for (const name of ['cpu', 'p50'])
    print(`${title}: ${name} of an own credential beside the operator’s`, ratios[name]);
}

function print(title, ratios) {
  const { value, low, high } = summaryOf(ratios);
  console.log(`${title}: ${value.toFixed(3)} × (${low.toFixed(3)} to ${high.toFixed(3)}, ${ratios.length} rounds)`);
}

/** The latency of the good one at a fixed rate, alone and beside the bad ones, in turns. */
async function beside() {
  const p99 = { alone: [], beside: [] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of round % 2 === 0 ? ['alone', 'beside'] : ['beside', 'alone']) {
      const stopBad = kind === 'beside' ? askWithBad() : null;
      const answered = results(loader, 1);
      load(loader, good.token, { connections: 32, rate: goodRate, count: goodRate * secondsOfRate });
      const [result] = await answered;
      if (result.ok !== result.sent)
        throw new Error(`${result.ok} of ${result.sent} answers were 200: ${result.sample}`);
      p99[kind].push(result.p99Us);
      await stopBad?.();
    }
  }
  const [alone, next] = [p99.alone, p99.beside].map((each) => median(each));
  print(`p99 of a good one beside ${badTenants} bad ones (${alone} µs alone, ${next} µs beside)`, [
    ...p99.beside.map((each, i) => each / p99.alone[i]),
  ]);
  const { data } = await admin('/routes', undefined, 'GET');
  const route = data.find(({ id }) => id === pinnedModel);
  console.log(`The breaker of the route is ${route.breaker}, its error rate ${route.error_rate}.`);
}

/** One bad customer after another, evenly: all at once they would be a burst, which delays others whatever they are answered. */
function askWithBad() {
  const body = scenarios.json.body(pinnedModel);
  const asking = new Set();
  let next = 0;
  const timer = setInterval(() => {
    const headers = { authorization: `Bearer ${bad[next++ % badTenants].token}`, 'content-type': 'application/json' };
    const asked = fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
      .then((response) => response.text())
      .finally(() => asking.delete(asked));
    asking.add(asked);
  }, 1000 / badRate);
  return () => {
    clearInterval(timer);
    return Promise.all(asking);
  };
}

/** As many credentials as are wanted; one of each account is used, so that it is in memory. */
async function store() {
  const startedAt = performance.now();
  let made = badTenants + 1;
  for (let n = 0; made < stored; n++) {
    const { id, token } = await account(`many-${n}`, { api_key: `good-key-${n}-0123456789` });
    made++;
    for (let m = 1; m < credentialsOfAccount && made < stored; m++, made++) {
      const body = {
        provider: 'openai',
        name: `n${m}`,
        secret: { api_key: `good-key-${n}-${m}-0123456789` },
        models: [`x/m${m}`],
      };
      await admin(`/accounts/${id}/credentials`, body);
    }
    const answered = results(loader, 1);
    load(loader, token, { connections: 1, count: 1 });
    await answered;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${made} credentials are stored; it took ${seconds.toFixed(0)} s.`);
}
