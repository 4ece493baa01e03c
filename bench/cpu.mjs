/** CPU time and memory of a process and all that it started, read from /proc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const canMeasureCpu = existsSync('/proc/self/task');
const tickUs = 10_000;

function statFields(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(') ') + 2).split(' ');
}

/** The process and its descendants. */
export function processTree(rootPid) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(statFields(name)[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It ended while we were looking.
    }
  }
  const tree = [rootPid];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Nanosecond counters of every thread, and the coarse ticks of every process, which also remember threads that ended. */
export function readCpu(pids) {
  const reading = { fineUs: 0, ticksUs: 0 };
  for (const pid of pids) {
    try {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        reading.fineUs += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
      }
      const fields = statFields(pid);
      reading.ticksUs += (Number(fields[11]) + Number(fields[12])) * tickUs;
    } catch {
      // It ended while we were looking.
    }
  }
  return reading;
}

/** Microseconds between two readings; the ticks win where a thread came or went and took its fine counter along. */
export function cpuBetween(before, after) {
  const fine = after.fineUs - before.fineUs;
  const ticks = after.ticksUs - before.ticksUs;
  return fine <= 0 || Math.abs(ticks - fine) > ticks / 20 + 4 * tickUs ? ticks : fine;
}

/** Busy microseconds of one core, whoever used it. */
export function coreBusyUs(core) {
  const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '';
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) * tickUs;
}

/** Memory of these processes in megabytes; a page that several of them share counts once in all (PSS). */
export function memoryMb(pids) {
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      // It ended while we were looking.
    }
  }
  return kilobytes / 1000;
}
