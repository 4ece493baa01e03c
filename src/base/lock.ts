/**
 * Lets one process at a time use a directory: a lock file names its holder. A lock is taken over only from a process that is
 * certainly gone, so a `kill -9` leaves nothing to clean up, and no live process on this or another host loses its lock.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Holder, here, judge, ownHolder, type Surroundings } from './lock-holder.js';
import { type Sign, showSign } from './lock-sign.js';
import { makePrivateDirectory } from './private-directory.js';

export interface Lock {
  release(): void;
}

/** Thrown where another process holds the lock; `certain` where that process is known to live. */
export class LockHeld extends Error {
  constructor(
    readonly pid: number,
    /** What is in use by whom, without what to do about it. */
    readonly problem: string,
    remedy: string,
    readonly certain: boolean,
  ) {
    super(`${problem} ${remedy}`);
    this.name = 'LockHeld';
  }
}

const attempts = 50;
const pauseMs = 10;

/** `what` begins the sentence of the error that a second process gets. */
export async function takeLock(file: string, what: string, us: Surroundings = here): Promise<Lock> {
  makePrivateDirectory(dirname(file));
  await clearAll(file, what, us);
  // Opened before the lock is taken, so that whoever finds the lock finds the socket.
  const token = randomBytes(6).toString('hex');
  const sign = await showSign(dirname(file), `${basename(file)}.${token}.sock`);
  const own = JSON.stringify({ ...ownHolder(us), sign: sign?.name ?? null, token });
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (create(file, own)) return { release: () => release(file, own, sign) };
      await clearAll(file, what, us);
    }
    throw changing(file, what);
  } catch (error) {
    sign?.close();
    throw error;
  }
}

/** Whether somebody holds the lock; `unknown` where the holder cannot be seen from here. Takes nothing. */
export async function lockState(file: string, us: Surroundings = here): Promise<'free' | 'held' | 'unknown'> {
  const found = read(file);
  if (found === undefined) return 'free';
  const holder = parse(found);
  // Empty: its holder may be between creating and writing it.
  if (!holder) return 'held';
  const verdict = await judge(holder, dirname(file), us);
  return verdict === 'gone' ? 'free' : verdict === 'alive' ? 'held' : 'unknown';
}

const changing = (file: string, what: string) => new Error(`${what} cannot be locked: ${file} keeps changing.`);

/** Returns when there is no lock at this moment. */
async function clearAll(file: string, what: string, us: Surroundings): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = read(file);
    if (found === undefined) return;
    await clear(file, found, attempt, { what, us });
  }
  throw changing(file, what);
}

/** Returns when the found lock may be gone; throws where its holder is not. */
async function clear(
  file: string,
  found: string,
  attempt: number,
  { what, us }: { what: string; us: Surroundings },
): Promise<void> {
  const holder = parse(found);
  if (holder) {
    const verdict = await judge(holder, dirname(file), us);
    if (verdict !== 'gone') throw heldBy(holder, verdict === 'alive', what, file);
  } else if (attempt < attempts / 2) {
    // Empty: a holder may be between creating and writing it. It gets a moment before the file counts as damaged.
    await pause(pauseMs);
    return;
  }
  await removeStale(file, found, us);
  if (holder?.sign && holder.sign === basename(holder.sign)) rmSync(join(dirname(file), holder.sign), { force: true });
}

function heldBy({ pid, host }: Holder, certain: boolean, what: string, file: string): LockHeld {
  const [problem, remedy] = certain
    ? [`${what} is in use by another Lodestone process (pid ${pid}).`, 'Stop that one, or choose another directory.']
    : [
        `${what} is locked by a Lodestone process (pid ${pid} on "${host ?? 'another host'}") that may or may not be running: it cannot be seen from here.`,
        `If it is not running, remove ${file}; otherwise choose another directory.`,
      ];
  return new LockHeld(pid, problem, remedy, certain);
}

function create(file: string, content: string): boolean {
  try {
    const fd = openSync(file, 'wx', 0o600);
    writeSync(fd, content);
    closeSync(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  return read(file) === content;
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
    const holder = JSON.parse(content) as Holder;
    return Number.isInteger(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/**
 * Several processes may find the same stale lock, and a slow one must not remove the new lock of a fast one. So only one at a
 * time removes it, after another look. The guard lasts for two system calls; a guard found later belongs to a dead process.
 */
async function removeStale(file: string, judged: string, us: Surroundings): Promise<void> {
  const guard = `${file}.takeover`;
  if (!create(guard, JSON.stringify(ownHolder(us)))) {
    const found = read(guard);
    await pause(pauseMs);
    const holder = found === undefined ? null : parse(found);
    const gone = !holder || (await judge(holder, dirname(file), us)) === 'gone';
    if (found !== undefined && gone && read(guard) === found) rmSync(guard, { force: true });
    return;
  }
  try {
    if (read(file) === judged) rmSync(file, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function release(file: string, own: string, sign: Sign | null): void {
  try {
    if (read(file) === own) rmSync(file, { force: true });
  } catch {
    // A disk that has become read-only keeps it. It is taken from a process that is gone, so that nothing is left to repair.
  }
  sign?.close();
}
