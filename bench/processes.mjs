/** Starts the programs of a run, pins them to cores if `taskset` is installed, and stops each of them by its own process id. */
import { spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

const pinned = cpus().length > 1 && spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status === 0;
export const gatewayCore = 0;
const loadCore = 1;
const started = [];
const startTimeoutMs = 20_000;
const stopTimeoutMs = 8_000;

export const pinning = pinned ? `gateways on core ${gatewayCore}, upstream and load on core ${loadCore}` : 'not pinned';

export function start(command, args, { core = gatewayCore, env, cwd, ipc = false } = {}) {
  const [program, rest] = pinned ? ['taskset', ['-c', String(core), command, ...args]] : [command, args];
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])],
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

export function startOnLoadCore(file, options = {}) {
  return start(process.execPath, [file], { core: loadCore, ...options });
}

/** The first match in what a program has printed. */
export async function printed(entry, pattern) {
  const until = performance.now() + startTimeoutMs;
  while (performance.now() < until) {
    const match = pattern.exec(entry.output);
    if (match) return match[1];
    if (entry.exited) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`A program did not start:\n${entry.output.slice(-2_000)}`);
}

/** In the order of their start backwards, politely first. */
export async function stopAll() {
  for (const entry of started.reverse()) {
    if (entry.exited) continue;
    entry.child.kill('SIGTERM');
    const timer = setTimeout(() => entry.child.kill('SIGKILL'), stopTimeoutMs);
    await entry.exit;
    clearTimeout(timer);
  }
}

export function killAll() {
  for (const entry of started) if (!entry.exited) entry.child.kill('SIGKILL');
}
