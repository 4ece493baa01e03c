/**
 * `node bench/slow-requests.mjs`: what the slowest requests wait for. The kernel's record of who had the gateway's core is laid beside
 * the times of the requests. Needs root, Linux and `perf`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { processTree } from './cpu.mjs';
import { gatewayCore, killAll, loadCore, stopAll } from './processes.mjs';
import { Rig } from './rig.mjs';
import { scenarios } from './scenarios.mjs';

const usage = `node bench/slow-requests.mjs [--connections 1] [--rate 0] [--seconds 5] [--slowest 1]

  --connections  each asks again as soon as it has its answer
  --rate         instead, so many requests a second over these connections
  --slowest      the share of requests to explain, in percent`;
const flags = readFlags();

function readFlags() {
  const number = (text) => ({ type: 'string', default: text });
  const numbers = { connections: number('1'), rate: number('0'), seconds: number('5'), slowest: number('1') };
  try {
    const { values } = parseArgs({ options: { ...numbers, help: { type: 'boolean', default: false, short: 'h' } } });
    for (const name of Object.keys(numbers))
      if (!/^\d{1,4}(\.\d+)?$/.test(values[name])) fail(`--${name} takes a number, not "${values[name]}".\n\n${usage}`);
    return values;
  } catch (error) {
    return fail(`${error.message}\n\n${usage}`);
  }
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

/** The clock that perf is told to use. */
const nowUs = () => Number(process.hrtime.bigint()) / 1_000;

async function explain() {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-slow-'));
  process.once('exit', () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });
  // This process is the load, so it must not take the gateway's core.
  spawnSync('taskset', ['-acp', String(loadCore), String(process.pid)], { stdio: 'ignore' });
  const rig = await new Rig({ folder, rounds: 1, log: () => {} }).open();
  const gateway = await rig.contender('lodestone');
  await rig.load(gateway, scenarios.json, scenarios.json.warm);
  await pause(2_500);
  const file = join(folder, 'switches');
  const recording = spawn(
    'perf',
    ['record', '-a', '-k', 'CLOCK_MONOTONIC', '-m', '4096', '-e', 'sched:sched_switch', '-o', file],
    { stdio: 'ignore' },
  );
  await pause(1_000);
  const requests = await load(gateway);
  recording.kill('SIGINT');
  if (recording.exitCode === null) await once(recording, 'exit');
  const names = namesOf(gateway.pid);
  await stopAll();
  const uses = coreUse(file);
  if (uses.length === 0) fail('perf recorded nothing. Run this as root, with tracefs mounted (/sys/kernel/tracing).');
  report(requests, uses, names);
}

/** Resolves to when each request was sent and answered, in order. */
async function load(gateway) {
  const body = scenarios.json.body(gateway.model);
  const text =
    `POST ${gateway.path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${gateway.key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const count = Number(flags.connections);
  const everyMs = Number(flags.rate) > 0 ? (count * 1_000) / Number(flags.rate) : 0;
  const until = nowUs() + Number(flags.seconds) * 1e6;
  const requests = [];
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const ask = await connection(gateway.port, text);
      await pause((everyMs * i) / count);
      while (nowUs() < until) {
        const from = nowUs();
        await ask();
        requests.push({ from, to: nowUs() });
        const leftMs = everyMs - (nowUs() - from) / 1_000;
        if (leftMs > 0) await pause(leftMs);
      }
    }),
  );
  return requests.sort((a, b) => a.from - b.from);
}

async function connection(port, text) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let missing = null;
  let done;
  socket.on('data', (bytes) => {
    if (missing === null) {
      const head = bytes.toString('latin1');
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(head);
      missing = head.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(head)[1]);
    }
    missing -= bytes.length;
    if (missing > 0) return;
    missing = null;
    done();
  });
  return () =>
    new Promise((resolve) => {
      done = resolve;
      socket.write(text);
    });
}

/** Who had the gateway's core, from when to when. */
function coreUse(file) {
  const { stdout } = spawnSync('perf', ['script', '-i', file, '-F', 'cpu,time,event,trace'], {
    maxBuffer: 2 ** 30,
    encoding: 'utf8',
  });
  const line = /\[(\d+)\]\s+([\d.]+):\s+sched:sched_switch:.*==> (?:next_comm=)?(.*?)(?: next_pid=|:)(\d+)/;
  const uses = [];
  for (const text of stdout.split('\n')) {
    const [, core, seconds, name, task] = line.exec(text) ?? [];
    if (Number(core) !== gatewayCore || core === undefined) continue;
    const at = Number(seconds) * 1e6;
    if (uses.length > 0) uses.at(-1).to = at;
    uses.push({ from: at, to: at, task: Number(task), name });
  }
  return uses;
}

/** Names for the tasks that a reader knows. */
function namesOf(pid) {
  const parts = new Map([[pid, 'the main thread']]);
  for (const task of readdirSync(`/proc/${pid}/task`).map(Number))
    if (task !== pid) parts.set(task, 'another thread of the gateway');
  for (const child of processTree(pid).slice(1)) parts.set(child, 'PostgreSQL');
  return ({ task, name }) => parts.get(task) ?? (name.startsWith('swapper') ? 'nobody' : 'other programs');
}

function report(requests, uses, nameOf) {
  const took = ({ from, to }) => to - from;
  const sorted = requests.toSorted((a, b) => took(a) - took(b));
  const slowCount = Math.ceil((requests.length * Number(flags.slowest)) / 100);
  const slow = sorted.slice(-slowCount);
  const middle = sorted.slice(Math.floor(sorted.length * 0.25), Math.floor(sorted.length * 0.75));
  const at = (share) => Math.round(took(sorted[Math.floor(sorted.length * share)]));
  console.log(
    `${requests.length} requests: p50 ${at(0.5)} µs, p90 ${at(0.9)} µs, p95 ${at(0.95)} µs, p99 ${at(0.99)} µs, p99.9 ${at(0.999)} µs.`,
  );
  const columns = [slow, middle].map((group) => shares(group, uses, nameOf));
  console.log(`\n| who had the core | µs in the slowest ${flags.slowest} % | µs in the middle half |\n|---|---|---|`);
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const figure = (column, name) => Math.round(column.get(name) ?? 0);
  for (const name of names.sort((a, b) => figure(columns[0], b) - figure(columns[0], a)))
    console.log(`| ${name} | ${columns.map((column) => figure(column, name)).join(' | ')} |`);
  printCauses(slow, uses, nameOf);
}

/** Microseconds a request. */
function shares(requests, uses, nameOf) {
  const sums = new Map();
  for (const request of requests)
    for (const [name, us] of within(request, uses, nameOf))
      sums.set(name, (sums.get(name) ?? 0) + us / requests.length);
  return sums;
}

function within({ from, to }, uses, nameOf) {
  const sums = new Map();
  let low = 0;
  let high = uses.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (uses[middle].to <= from) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < uses.length && uses[i].from < to; i++) {
    const us = Math.min(to, uses[i].to) - Math.max(from, uses[i].from);
    if (us > 0) sums.set(nameOf(uses[i]), (sums.get(nameOf(uses[i])) ?? 0) + us);
  }
  return sums;
}

/** The slowest requests by who had most of the core meanwhile. */
function printCauses(slow, uses, nameOf) {
  const causes = new Map();
  for (const request of slow) {
    const [name] = [...within(request, uses, nameOf)].sort((a, b) => b[1] - a[1])[0] ?? ['nobody'];
    causes.set(name, (causes.get(name) ?? 0) + 1);
  }
  console.log(`\n| had most of the core during | of ${slow.length} |\n|---|---|`);
  for (const [name, count] of [...causes].sort((a, b) => b[1] - a[1])) console.log(`| ${name} | ${count} |`);
}

if (flags.help) {
  console.log(usage);
} else if (spawnSync('perf', ['--version'], { stdio: 'ignore' }).status !== 0) {
  fail('perf is not installed, or not for this kernel. Install the package linux-perf or linux-tools.');
} else if (await prepareOrExplain()) {
  await explain();
  process.exit(0);
} else {
  process.exitCode = 1;
}
