/** A disk of a few megabytes that a test can fill: a file system in memory, mounted for the time of the test. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Leaves no byte free. */
  fill(): void;
  /** Gives back what `fill` took. */
  free(): void;
  setReadOnly(readOnly: boolean): void;
  remove(): void;
}

/** Null where this process may not mount. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  const path = mkdtempSync(join(tmpdir(), 'lodestone-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    rmdirSync(path);
    return null;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      const fd = openSync(filler, 'a');
      for (let size = 1 << 20; size >= 1; size = size === 1 ? 0 : Math.max(1, size >> 4)) writeUntilFull(fd, size);
      closeSync(fd);
    },
    free: () => rmSync(filler, { force: true }),
    setReadOnly: (readOnly) => {
      execFileSync('mount', ['-o', `remount,${readOnly ? 'ro' : 'rw'}`, path], { stdio: 'ignore' });
    },
    remove() {
      // Lazy: a process that a failed test left behind may still have a file open.
      execFileSync('umount', ['-l', path], { stdio: 'ignore' });
      rmdirSync(path);
    },
  };
}

function writeUntilFull(fd: number, size: number): void {
  const bytes = Buffer.alloc(size, 1);
  try {
    while (writeSync(fd, bytes) === size);
  } catch {
    // That was the last of them.
  }
}
