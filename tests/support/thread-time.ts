/** What the system knows of a thread: how long it ran, and how long it could have run and had no processor. */
import { readFileSync } from 'node:fs';

export interface ThreadTime {
  ranMs: number;
  keptWaitingMs: number;
}

/** Of the thread that asks, or of a process's main thread; without such a system as if it always ran. */
export function threadTime(pid?: number): ThreadTime {
  try {
    const place = pid === undefined ? 'thread-self' : `${pid}/task/${pid}`;
    const [ran, waited] = readFileSync(`/proc/${place}/schedstat`, 'latin1').split(' ');
    return { ranMs: Number(ran) / 1e6, keptWaitingMs: Number(waited) / 1e6 };
  } catch {
    return { ranMs: performance.now(), keptWaitingMs: 0 };
  }
}
