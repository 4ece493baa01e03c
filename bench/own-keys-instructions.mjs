/**
 * Counts the instructions that the processes of a gateway execute, with `perf`. What else runs on the machine hardly changes them, so a
 * difference of a percent shows in minutes, where CPU time needs an idle machine and an hour.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { processTree, readCpu } from './cpu.mjs';

const event = 'instructions:u';
export const canCountInstructions = spawnSync('perf', ['stat', '-e', event, 'true'], { stdio: 'ignore' }).status === 0;

const pollMs = 150;
const pollsMax = 40;
/** The settler looks for records four times a second. */
const quietPolls = 5;
const quietUs = 3_000;

/** The processes that serve, settle and store. */
function processesOf(servingPid) {
  const processes = { serving: [], settler: [], store: [] };
  for (const pid of processTree(servingPid)) {
    const kind = pid === servingPid ? 'serving' : /settle/.test(readProcess(pid, 'cmdline')) ? 'settler' : 'store';
    processes[kind].push(pid);
  }
  return processes;
}

/** Resolves when all that was sent is settled: the processes do nothing, and none of them waits for a core. */
async function quiet(servingPid) {
  let before = readCpu(processTree(servingPid)).fineUs;
  for (let polls = 0, inRow = 0; polls < pollsMax && inRow < quietPolls; polls++) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    const pids = processTree(servingPid);
    const after = readCpu(pids).fineUs;
    inRow = after - before < quietUs && !pids.some(isRunnable) ? inRow + 1 : 0;
    before = after;
  }
}

const isRunnable = (pid) => /\) R /.test(readProcess(pid, 'stat'));

/** Empty where it has ended meanwhile. */
function readProcess(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Counts from now on. Resolves to a function that ends it and resolves to the number. */
async function count(pids) {
  const argv = ['stat', '-x;', '-D-1', '--control', 'fd:3,4', '-e', event, '-p', pids.join(',')];
  const perf = spawn('perf', argv, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
  let text = '';
  perf.stderr.on('data', (more) => (text += more));
  const ended = new Promise((resolve) => perf.once('close', resolve));
  const order = (word) =>
    new Promise((resolve, reject) => {
      perf.stdio[4].once('data', resolve);
      void ended.then(() => reject(new Error(`perf has ended: ${text}`)));
      perf.stdio[3].write(`${word}\n`);
    });
  await order('enable');
  return async () => {
    await order('disable');
    perf.kill('SIGINT');
    await ended;
    return Number(
      text
        .split('\n')
        .find((line) => line.includes(event))
        .split(';')[0],
    );
  };
}

/** What each kind of process executes while `run` runs and until all is settled. */
export async function instructionsOf(servingPid, run) {
  await quiet(servingPid);
  const counting = [];
  for (const [kind, pids] of Object.entries(processesOf(servingPid))) counting.push([kind, await count(pids)]);
  await run();
  await quiet(servingPid);
  const counted = {};
  for (const [kind, end] of counting) counted[kind] = await end();
  return counted;
}
