/** The journal's file calls on the real disk, which fail when a test wants it. */
import fs from 'node:fs';
import type { JournalFiles } from '../../src/journal/journal-segments.js';

export type WriteFault = 'ENOSPC' | 'EROFS' | 'EIO' | 'short' | 'nothing';

export class FailingDisk {
  /** Files do not grow any more; what is allocated can be overwritten. */
  full = false;
  readOnly = false;
  /** The number of the write that fails, counted from 0, and how. */
  failAt: { write: number; fault: WriteFault } | null = null;
  writes = 0;

  readonly files: JournalFiles = {
    ...fs,
    writeSync: ((fd: number, bytes: Buffer, offset: number, length: number, position: number) =>
      this.#write(fd, bytes, offset, length, position)) as typeof fs.writeSync,
    openSync: ((file: string, flags: string, mode?: number) => {
      if (this.readOnly && flags !== 'r') throw failure('EROFS', 'open');
      return fs.openSync(file, flags, mode);
    }) as typeof fs.openSync,
  };

  #write(fd: number, bytes: Buffer, offset: number, length: number, position: number): number {
    if (this.readOnly) throw failure('EROFS', 'write');
    const { size } = fs.fstatSync(fd);
    if (this.full && position + length > size) throw failure('ENOSPC', 'write');
    if (this.writes++ !== this.failAt?.write) return fs.writeSync(fd, bytes, offset, length, position);
    const { fault } = this.failAt;
    if (fault === 'nothing') return 0;
    // Part of it is on the disk, also where the call says that it failed.
    const part = fs.writeSync(fd, bytes, offset, Math.ceil(length / 2), position);
    if (fault === 'short') return part;
    throw failure(fault, 'write');
  }
}

const texts = { ENOSPC: 'no space left on device', EROFS: 'read-only file system', EIO: 'i/o error' };

function failure(code: keyof typeof texts, call: string): Error {
  return Object.assign(new Error(`${code}: ${texts[code]}, ${call}`), { code });
}
