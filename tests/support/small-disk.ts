/** Disks of a few megabytes, mounted for the time of a test: one in memory that it can fill, and one in a file that it can break. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

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

export interface BreakableDisk {
  readonly path: string;
  /** As the kernel makes it after an error, files that are open for writing included. It is writable again when it was mounted anew. */
  breakNow(): void;
  mountAnew(): void;
  /** Nothing of it can be written, made or deleted, until that is taken back. The error is another one than that of a broken disk. */
  freeze(frozen: boolean): void;
  remove(): void;
}

/** A disk with open files cannot be mounted read-only, so this one has to fail. Null where this process may not mount, or not break it. */
export function mountBreakableDisk(megabytes: number): BreakableDisk | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-disk-'));
  const [image, path] = [join(folder, 'image'), join(folder, 'disk')];
  const run = (...[program, ...args]: [string, ...string[]]) =>
    execFileSync(program, args, { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }).trim();
  let device = '';
  const mount = () => run('mount', '-o', 'errors=remount-ro', device, path);
  const remove = () => {
    try {
      // Lazy, as below.
      run('umount', '-l', path);
    } catch {
      // It was not mounted.
    }
    if (device !== '') run('losetup', '-d', device);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    mkdirSync(path);
    writeFileSync(image, '');
    truncateSync(image, megabytes << 20);
    // Without a journal, which the kernel would end with an error.
    run('mkfs.ext4', '-q', '-F', '-O', '^has_journal', image);
    device = run('losetup', '-f', '--show', image);
    mount();
    const trigger = join('/sys/fs/ext4', basename(device), 'trigger_fs_error');
    if (!existsSync(trigger)) throw new Error('no disk of this system can be made to fail');
    return {
      path,
      breakNow: () => writeFileSync(trigger, '1'),
      mountAnew() {
        run('umount', path);
        mount();
      },
      // Sockets cannot be frozen.
      freeze: (frozen) =>
        run(
          'find',
          path,
          '(',
          '-type',
          'f',
          '-o',
          '-type',
          'd',
          ')',
          '-exec',
          'chattr',
          frozen ? '+i' : '-i',
          '{}',
          '+',
        ),
      remove,
    };
  } catch {
    remove();
    return null;
  }
}

function writeUntilFull(fd: number, size: number): void {
  const bytes = Buffer.alloc(size, 1);
  try {
    while (writeSync(fd, bytes) === size);
  } catch {
    // That was the last of them.
  }
}
