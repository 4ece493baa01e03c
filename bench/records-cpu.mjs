/** The CPU time of an embedded PostgreSQL with all connections, also those that have ended. For bench/records.mjs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const serverPid = (dataDir) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Of a process and all that it started, in microseconds. */
export function cpuOfTree(root) {
  const processes = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      processes.set(Number(name), { parent: fields[1], ticks: fields[11] + fields[12] + fields[13] + fields[14] });
    } catch {
      // It has ended meanwhile.
    }
  }
  let ticks = 0;
  for (const [pid, { ticks: own }] of processes) {
    let above = pid;
    while (above > 1 && above !== root) above = processes.get(above)?.parent ?? 0;
    if (above === root) ticks += own;
  }
  return ticks * 10_000;
}
