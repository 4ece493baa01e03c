/**
 * One process at a time on a directory: a lock file that names its holder. A lock is taken over only from a process that
 * is certainly gone, so that a `kill -9` leaves nothing to clean up by hand.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Lock {
  release(): void;
}

interface Holder {
  pid: number;
  /** When the process began, in ticks of one boot: tells a reused pid from the same process. Null where not known. */
  began: string | null;
}

/** Thrown where a live process holds the lock. */
export class LockHeld extends Error {
  constructor(
    readonly pid: number,
    what: string,
  ) {
    super(`${what} is in use by another Lodestone process (pid ${pid}). Stop that one, or choose another directory.`);
    this.name = 'LockHeld';
  }
}

const attempts = 50;

/** `what` is the beginning of the sentence that a second process is refused with. */
export function takeLock(file: string, what: string): Lock {
  mkdirSync(dirname(file), { recursive: true });
  const own = JSON.stringify({ pid: process.pid, began: beganAt(process.pid) } satisfies Holder);
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (create(file, own)) return { release: () => releaseIfOwn(file, own) };
    const found = read(file);
    if (found === undefined) continue;
    const holder = parse(found);
    if (holder && isAlive(holder)) throw new LockHeld(holder.pid, what);
    // Empty: a holder may be between creating and writing it. It gets a moment before the file counts as torn.
    if (!holder && attempt < attempts / 2) pause(10);
    else removeStale(file, found);
  }
  throw new Error(`${what} cannot be locked: ${file} keeps changing.`);
}

function create(file: string, content: string): boolean {
  try {
    const fd = openSync(file, 'wx', 0o600);
    writeSync(fd, content);
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(content: string): Holder | null {
  try {
    const { pid, began } = JSON.parse(content) as Holder;
    return Number.isInteger(pid) ? { pid, began } : null;
  } catch {
    return null;
  }
}

/** Two processes may find the same stale lock; the slower must not remove what the quicker has just made. */
function removeStale(file: string, judged: string): void {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (read(aside) === judged) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

function releaseIfOwn(file: string, own: string): void {
  if (read(file) === own) rmSync(file, { force: true });
}

function isAlive({ pid, began }: Holder): boolean {
  if (!processExists(pid)) return false;
  const now = beganAt(pid);
  return began === null || now === null || now === began;
}

/** A zombie does not count: it holds nothing any more. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return !/^[ZX]/.test(statFields(pid)?.[0] ?? '');
}

function beganAt(pid: number): string | null {
  const ticks = statFields(pid)?.[19];
  return ticks ? `${ticks}@${read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}` : null;
}

/** The fields of /proc/<pid>/stat after the program's name, which may itself hold spaces and brackets. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
