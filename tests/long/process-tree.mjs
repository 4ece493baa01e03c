/** What the system knows of a process and its descendants: proportional memory, which counts a shared page once, and what they run. */
import { readdirSync, readFileSync } from 'node:fs';

function parentsOf() {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return parents;
}

function treeOf(pid) {
  const parents = parentsOf();
  const tree = [pid];
  for (const member of tree) for (const [child, parent] of parents) if (parent === member) tree.push(child);
  return tree;
}

/** Megabytes of 10^6 bytes. */
export function treeMegabytes(pid) {
  let kibibytes = 0;
  for (const member of treeOf(pid)) {
    try {
      kibibytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${member}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return (kibibytes * 1024) / 1e6;
}

/** Kills a process that another one has started, by what its command line contains; false where there is none at present. */
export function killChild(parent, words) {
  for (const [pid, above] of parentsOf()) {
    if (above !== parent) continue;
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words)) continue;
      return process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  return false;
}
