/**
 * What an earlier run may have left on a cluster: a server that is still shutting down after its parent was killed, or the
 * name of one that is gone. Called only by the holder of the data directory's lock, so such a server is nobody's.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { processExists } from '../../base/lock-holder.js';

const patienceMs = 10_000;
/** After this it does not seem to be stopping by itself (its watchdog was killed too), and is told to. */
const nudgeMs = 2_000;
const pollMs = 25;

/** Resolves when no server runs on the cluster; rejects where one will not go. */
export async function awaitPredecessor(cluster: string, socketFile: string): Promise<void> {
  let nudged = false;
  for (let waited = 0; waited < patienceMs; waited += pollMs) {
    const pid = serverPid(cluster);
    // The socket also tells of a server in another container that shares the directory, whose pid means nothing here.
    if (pid === null && !(await accepts(socketFile))) return;
    if (pid !== null && !nudged && waited >= nudgeMs) {
      process.kill(pid, 'SIGINT');
      nudged = true;
    }
    await pause(pollMs);
  }
  const pid = serverPid(cluster);
  throw new Error(`Another PostgreSQL server${pid ? ` (pid ${pid})` : ''} is running on ${cluster} and does not stop.`);
}

/** The server that the cluster's pid file names, if it runs; a file that names some other process is removed. */
function serverPid(cluster: string): number | null {
  const file = join(cluster, 'postmaster.pid');
  let pid: number;
  try {
    pid = Number(readFileSync(file, 'utf8').split('\n', 1)[0]);
  } catch {
    return null;
  }
  if (!Number.isInteger(pid) || pid <= 1 || !processExists(pid)) return null;
  const own = worksIn(pid, cluster);
  // PostgreSQL itself would refuse to start for as long as that other process lives.
  if (own === false) rmSync(file, { force: true });
  return own === false ? null : pid;
}

/** A server's working directory is its cluster. Null where the system does not tell. */
function worksIn(pid: number, cluster: string): boolean | null {
  if (process.platform !== 'linux') return null;
  try {
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return processExists(pid) ? null : false;
  }
}

function accepts(socketFile: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketFile);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
