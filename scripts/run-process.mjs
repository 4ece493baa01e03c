/**
 * Runs one program to its end: signals that reach us are passed on to it, a silent one is reported every few seconds, with
 * `group` nothing that it started outlives it, and with `background` it comes after all others, and what it says at its end.
 */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

const heartbeatMs = 5_000;
const graceMs = 3_000;
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const hasGroups = process.platform !== 'win32';

/** The exit code; 1 where a signal ended the program or it could not be started. */
export async function run(command, args, { cwd, env, heartbeat, group = false, background = false } = {}) {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [group ? 'ignore' : 'inherit', ...(background ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
    detached: group && hasGroups,
    shell: process.platform === 'win32' && command === 'npm',
  });
  const said = [];
  if (background) {
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => said.push(bytes));
    giveWay(child.pid);
  }
  const forward = (signal) => child.kill(signal);
  for (const signal of passedOn) process.on(signal, forward);
  const timer = heartbeat && !process.stdout.isTTY ? setInterval(beat, heartbeatMs) : undefined;
  function beat() {
    console.log(`${heartbeat} (${Math.round((performance.now() - startedAt) / 1000)} s)`);
  }
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => {
        console.error(`${command} could not be started: ${error.message}`);
        resolve(1);
      });
      child.once(background ? 'close' : 'exit', (code) => resolve(code ?? 1));
    });
  } finally {
    if (said.length > 0) process.stdout.write(Buffer.concat(said));
    clearInterval(timer);
    for (const signal of passedOn) process.off(signal, forward);
    if (group && hasGroups && child.pid) await endGroup(child.pid);
  }
}

function giveWay(pid) {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already.
  }
}

/** Ends what is left of a process group, politely first. */
async function endGroup(id) {
  if (!signalGroup(id, 'SIGTERM')) return;
  const until = performance.now() + graceMs;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (!signalGroup(id, 0)) return;
  }
  signalGroup(id, 'SIGKILL');
}

/** False where the group has no member. */
function signalGroup(id, signal) {
  try {
    process.kill(-id, signal);
    return true;
  } catch {
    return false;
  }
}
