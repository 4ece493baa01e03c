/** Starts the programs of a run, pins them to cores if `taskset` is installed, and stops each of them by its own process id. */
import { spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

export const pinned = cpus().length > 1 && spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status === 0;
export const gatewayCore = 0;
export const loadCore = 1;
const started = [];
/** A gateway creates its database first, beside whatever else the core does. */
const startTimeoutMs = 60_000;
const stopTimeoutMs = 8_000;

export const pinning = pinned ? `gateways on core ${gatewayCore}, upstream and load on core ${loadCore}` : 'not pinned';

/** `core` is where it runs; null leaves that to the system. */
export function start(command, args, { core = gatewayCore, env, cwd, ipc = false, stdin = 'ignore' } = {}) {
  const [program, rest] =
    pinned && core !== null ? ['taskset', ['-c', String(core), command, ...args]] : [command, args];
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [stdin, 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])],
  });
  const entry = { child, output: '', exited: false };
  child.stdout.on('data', (text) => (entry.output += text));
  child.stderr.on('data', (text) => (entry.output = (entry.output + text).slice(-20_000)));
  entry.exit = new Promise((resolve) => {
    child.once('error', (error) => (entry.output += error.message));
    child.once('close', () => {
      entry.exited = true;
      resolve();
    });
  });
  started.push(entry);
  return entry;
}

export function startOnLoadCore(command, args, options = {}) {
  return start(command, args, { core: loadCore, ...options });
}

/** The first match in what a program has printed. */
export async function printed(entry, pattern, timeoutMs = startTimeoutMs) {
  const until = performance.now() + timeoutMs;
  while (performance.now() < until) {
    const match = pattern.exec(entry.output);
    if (match) return match[1];
    if (entry.exited) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`A program did not start:\n${entry.output.slice(-2_000)}`);
}

/** Politely first. */
export async function stop(entry, timeoutMs = stopTimeoutMs) {
  if (entry.exited) return;
  entry.child.kill('SIGTERM');
  const timer = setTimeout(() => entry.child.kill('SIGKILL'), timeoutMs);
  await entry.exit;
  clearTimeout(timer);
}

/** In the order of their start backwards. */
export async function stopAll() {
  for (const entry of started.toReversed()) await stop(entry);
}

export function killAll() {
  for (const entry of started) if (!entry.exited) entry.child.kill('SIGKILL');
}
