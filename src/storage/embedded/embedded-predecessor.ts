/**
 * Deals with the server of an earlier run: one that is still shutting down after its parent was killed, or the pid file of
 * one that is gone. Only the holder of the data directory's lock calls it, so no other process uses such a server.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { processExists } from '../../base/lock-holder.js';

const patienceMs = 10_000;
/**
 * A server that still runs after this long is not stopping by itself (its watchdog was killed too), so it is asked to stop.
 */
const nudgeMs = 2_000;
const pollMs = 25;

/** Resolves when no server runs on the cluster; rejects where one does not stop. */
export async function awaitPredecessor(cluster: string, socketFile: string): Promise<void> {
  let nudged = false;
  for (let waited = 0; waited < patienceMs; waited += pollMs) {
    const pid = serverPid(cluster);
    // The socket also shows a server in another container that shares the directory, whose pid means nothing here.
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

/** The running server that the cluster's pid file names. A file that names another process is removed. */
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
  // PostgreSQL itself would refuse to start while that other process lives.
  if (own === false) rmSync(file, { force: true });
  return own === false ? null : pid;
}

/** A server's working directory is its cluster. null where the system does not report it. */
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
