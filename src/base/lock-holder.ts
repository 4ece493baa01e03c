/**
 * Finds out who holds a lock and whether that process is certainly gone (docs/decisions/0017). A pid has a meaning only in
 * its kernel and pid namespace. Where those are not ours, only what follows from the kernel or the disk counts as certain.
 */
import { readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { answers } from './lock-sign.js';

export interface Holder {
  pid: number;
  /**
   * When the process began, in ticks since boot. It distinguishes a reused pid from the same process. null where unknown.
   */
  began: string | null;
  /** The pid namespace; absent in locks of older versions. */
  space?: string | null;
  host?: string;
  machine?: string | null;
  /** The name of the holder's socket in the lock's directory. */
  sign?: string | null;
}

export interface Surroundings {
  readonly boot: string | null;
  readonly space: string | null;
  readonly host: string;
  readonly machine: string | null;
  /** Whether only one kernel at a time can use a file system. */
  readonly isLocal: (dir: string) => boolean;
}

/** `unknown`: it may run where this process cannot see it. */
export type Verdict = 'alive' | 'gone' | 'unknown';

export const here: Surroundings = {
  boot: firstLine('/proc/sys/kernel/random/boot_id'),
  space: pidNamespace(),
  host: hostname(),
  machine: machineId(process.env),
  isLocal,
};

export function ownHolder({ space, host, machine }: Surroundings): Holder {
  return { pid: process.pid, began: beganAt(process.pid), space, host, machine };
}

export async function judge(holder: Holder, dir: string, us: Surroundings): Promise<Verdict> {
  const boot = holder.began?.split('@')[1] || null;
  // Systems without a boot id (no /proc) have no pid namespaces either.
  if (boot === null || us.boot === null) return byPid(holder);
  if (boot === us.boot) return sharesPids(holder, us) ? byPid(holder) : bySign(holder, dir);
  // Another boot: this host before a restart, or another host. A name proves nothing, because two hosts may have the same one.
  const sameHost = us.machine !== null && holder.machine === us.machine && holder.host === us.host;
  return sameHost || us.isLocal(dir) ? 'gone' : 'unknown';
}

function sharesPids({ space }: Holder, us: Surroundings): boolean {
  return space === undefined || space === us.space;
}

function byPid({ pid, began }: Holder): Verdict {
  if (!processExists(pid)) return 'gone';
  const now = beganAt(pid);
  return began === null || now === null || now === began ? 'alive' : 'gone';
}

/** Another container on this kernel: its socket answers while the process lives, and never after. */
async function bySign({ sign }: Holder, dir: string): Promise<Verdict> {
  if (!sign) return 'unknown';
  const outcome = await answers(dir, sign);
  return outcome === 'connected' ? 'alive' : outcome === 'ECONNREFUSED' ? 'gone' : 'unknown';
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
  return ticks ? `${ticks}@${firstLine('/proc/sys/kernel/random/boot_id') ?? ''}` : null;
}

/** The fields of /proc/<pid>/stat after the program's name, which may itself contain spaces and brackets. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function firstLine(file: string): string | null {
  try {
    return readFileSync(file, 'latin1').trim() || null;
  } catch {
    return null;
  }
}

/**
 * An id that no other host has at the same time: of the operator, or of systemd, whose file in an image may hold a word instead.
 * null where there is none.
 */
export function machineId(env: NodeJS.ProcessEnv, file = '/etc/machine-id'): string | null {
  const id = firstLine(file);
  return env.LODESTONE_MACHINE_ID || (id !== null && /^[0-9a-f]{32}$/.test(id) ? id : null);
}

function pidNamespace(): string | null {
  try {
    return readlinkSync(join('/proc/self/ns', 'pid'));
  } catch {
    return null;
  }
}

/**
 * Linux' magic numbers of ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, overlayfs, tmpfs and ramfs. Network and guest file
 * systems are not in the list.
 */
const localTypes = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630, 0x01021994, 0x858458f6,
]);

function isLocal(dir: string): boolean {
  try {
    return localTypes.has(statfsSync(dir).type >>> 0);
  } catch {
    return false;
  }
}
