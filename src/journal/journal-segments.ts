/**
 * The journal's files: numbered segments, of which the last is written to. A segment consists of lines and, after them,
 * zeros: space that is allocated in advance, so that a record fits when the disk is full. Appended lines are in the operating
 * system when the call returns, so they survive the process.
 */
import fs from 'node:fs';
import { join } from 'node:path';

export interface Segment {
  readonly number: number;
  readonly file: string;
  /** The size up to which it holds complete lines. */
  bytes: number;
  /** The number of its records that wait in memory, and of its provisional records that nothing has replaced. */
  outstanding: number;
}

/** The calls to the file system. Tests replace them to make the disk fail. */
export type JournalFiles = Pick<
  typeof fs,
  'closeSync' | 'ftruncateSync' | 'openSync' | 'readSync' | 'rmSync' | 'statfsSync' | 'writeSync'
>;

export interface SegmentOptions {
  segmentBytes: number;
  /** Space is allocated in steps of this size. */
  stepBytes: number;
  files?: JournalFiles | undefined;
}

/** Below this size it is not worth emptying the active segment when everything is settled. */
const resetBytes = 1 << 20;
const readBytes = 1 << 19;
const newline = 10;
/** The format of the lines is part of a file's name. It is raised with every change, so that no line is misread. */
const form = '4';
/** Format 2 has no zeros and no provisional lines, format 3 no bills, so both are read like this one. */
const readableForm = /^\d{12}\.[234]\.log$/;
const zeros = Buffer.alloc(256 * 1024);

export class Segments {
  /** Oldest first; the last is the active one. */
  readonly #all: Segment[];
  readonly #files: JournalFiles;
  readonly #segmentBytes: number;
  readonly #stepBytes: number;
  #fd: number;
  /** The size of the active segment, zeros included. */
  #allocated = 0;
  /** Up to here, part of a failed write may stand after the last complete line. */
  #damagedUntil = 0;
  /** Whether the last attempt to allocate space failed. */
  #short = false;
  #closed = false;
  #writeStart = 0;

  constructor(
    private readonly dir: string,
    { segmentBytes, stepBytes, files = fs }: SegmentOptions,
  ) {
    this.#files = files;
    this.#segmentBytes = segmentBytes;
    this.#stepBytes = stepBytes;
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#all = segmentNames(dir)
      .sort()
      .map((name) => ({ number: Number.parseInt(name, 10), file: join(dir, name), bytes: 0, outstanding: 0 }));
    for (const segment of this.#all) segment.bytes = fs.statSync(segment.file).size;
    const { fd, segment } = this.#create();
    this.#fd = fd;
    this.#all.push(segment);
  }

  get first(): Segment {
    return this.#all[0]!;
  }

  /** Where the lines that were appended last begin in their segment. */
  get writeStart(): number {
    return this.#writeStart;
  }

  get active(): Segment {
    return this.#all[this.#all.length - 1]!;
  }

  /** The allocated bytes of the active segment that no line uses. */
  get room(): number {
    return this.#allocated - this.active.bytes;
  }

  after(segment: Segment): Segment | undefined {
    return this.#all[this.#all.indexOf(segment) + 1];
  }

  /** Allocates until there is that much space. Throws where the disk refuses. */
  makeRoom(bytes: number): void {
    if (this.room >= bytes) return;
    this.#short = true;
    this.#allocated = this.#allocate(this.#fd, this.#allocated, this.active.bytes + bytes);
    this.#short = false;
  }

  /**
   * Appends complete lines and leaves `reserved` bytes of space after them in a new segment. Throws where the disk refuses.
   */
  append(bytes: Buffer, start: number, end: number, reserved = 0): Segment {
    if (this.#closed) throw new Error('The journal is closed.');
    const size = end - start;
    this.#repair(reserved + size);
    if (this.active.bytes >= this.#segmentBytes) this.#rotateIfPossible(reserved + size);
    this.makeRoom(size);
    const { active } = this;
    this.#damagedUntil = active.bytes + size;
    this.#writeAll(this.#fd, bytes, start, size, active.bytes);
    this.#damagedUntil = 0;
    this.#writeStart = active.bytes;
    active.bytes += size;
    return active;
  }

  /** Throws where the disk accepts no writes. A zero after the last line changes nothing. */
  checkWritable(): void {
    this.#repair(0);
    if (this.room > 0) this.#writeAll(this.#fd, zeros, 0, 1, this.active.bytes);
  }

  /** The free space of the disk for this process; null where the file system does not report it. */
  freeBytes(): number | null {
    const { blocks, bavail, bfree, bsize } = this.#files.statfsSync(this.dir);
    // Root may use the blocks that a file system reserves.
    return blocks === 0 ? null : (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  }

  /** The complete lines from an offset on, about half a megabyte (at least one), and the offset after them. */
  read(segment: Segment, offset: number): { lines: Buffer; offset: number } {
    const fd = this.#files.openSync(segment.file, 'r');
    try {
      for (let size = readBytes; ; size *= 2) {
        const wanted = Math.min(size, segment.bytes - offset);
        const buffer = Buffer.allocUnsafe(wanted);
        const got = buffer.subarray(0, this.#files.readSync(fd, buffer, 0, wanted, offset));
        const used = got.indexOf(0);
        // No line contains a zero, so here begins the allocated space.
        if (used !== -1) segment.bytes = offset + used;
        const text = used === -1 ? got : got.subarray(0, used);
        const end = text.lastIndexOf(newline) + 1;
        if (end > 0) return { lines: text.subarray(0, end), offset: offset + end };
        if (text.length < size) return { lines: text.subarray(0, 0), offset };
      }
    } finally {
      this.#files.closeSync(fd);
    }
  }

  /** Deletes fully settled segments, oldest first, up to and excluding a segment that is still to be read. */
  retire(unread: Segment | undefined): void {
    while (this.first !== this.active && this.first !== unread && this.first.outstanding === 0) {
      this.#files.rmSync(this.first.file, { force: true });
      this.#all.shift();
    }
  }

  /**
   * Everything is settled: an active segment of some size, or one that cannot grow, is used from its beginning again. It
   * keeps its space, at least `reserved` bytes and one step, because a full disk would not give it back.
   */
  empty(reserved: number): void {
    const { active } = this;
    if (active.outstanding > 0 || active.bytes === 0 || (active.bytes < resetBytes && !this.#short)) return;
    const used = Math.max(active.bytes, this.#damagedUntil);
    // From the front, so that a reader in between stops at the first byte.
    active.bytes = 0;
    this.#damagedUntil = used;
    this.#repair(reserved);
    const kept = reserved + this.#stepBytes;
    if (this.#allocated <= 2 * kept) return;
    this.#files.ftruncateSync(this.#fd, kept);
    this.#allocated = kept;
  }

  /** `settled`: the active segment is not needed any more. */
  close(settled: boolean): void {
    this.#closed = true;
    const { active } = this;
    if (!settled && this.#damagedUntil === 0) this.#files.ftruncateSync(this.#fd, active.bytes);
    this.#files.closeSync(this.#fd);
    if (settled) this.#files.rmSync(active.file, { force: true });
  }

  #create(): { fd: number; segment: Segment } {
    const number = (this.#all.at(-1)?.number ?? 0) + 1;
    const file = join(this.dir, `${String(number).padStart(12, '0')}.${form}.log`);
    // Not for appending: lines are written over zeros, at a position.
    return { fd: this.#files.openSync(file, 'wx', 0o600), segment: { number, file, bytes: 0, outstanding: 0 } };
  }

  /** Writes zeros up to the next step after `end`; returns the size that was reached. */
  #allocate(fd: number, from: number, end: number): number {
    const target = Math.ceil(end / this.#stepBytes) * this.#stepBytes;
    let reached = from;
    try {
      while (reached < target) {
        const written = this.#files.writeSync(fd, zeros, 0, Math.min(zeros.length, target - reached), reached);
        if (written === 0) throw new Error('The disk took no more of the journal.');
        reached += written;
      }
    } catch (error) {
      if (fd === this.#fd) this.#allocated = reached;
      if (reached < end) throw error;
    }
    return reached;
  }

  #writeAll(fd: number, bytes: Buffer, start: number, size: number, position: number): void {
    for (let done = 0; done < size; ) {
      const written = this.#files.writeSync(fd, bytes, start + done, size - done, position + done);
      if (written === 0) throw new Error('The disk took only part of the journal records.');
      done += written;
    }
  }

  /**
   * Wipes what a failed write left after the last complete line, because the rest of a longer line after a shorter one could
   * be read as a record. Where that fails too, a new segment begins.
   */
  #repair(room: number): void {
    const { bytes } = this.active;
    if (this.#damagedUntil === 0) return;
    try {
      for (let at = bytes; at < this.#damagedUntil; at += zeros.length)
        this.#writeAll(this.#fd, zeros, 0, Math.min(zeros.length, this.#damagedUntil - at), at);
      this.#allocated = Math.max(this.#allocated, this.#damagedUntil);
      this.#damagedUntil = 0;
    } catch {
      this.#rotate(room);
    }
  }

  /** A segment may exceed its size where the disk has no space for another. */
  #rotateIfPossible(room: number): void {
    try {
      this.#rotate(room);
    } catch (error) {
      if (this.room < room) throw error;
    }
  }

  /** Allocates the new segment's space before the old one is closed. */
  #rotate(room: number): void {
    const { fd, segment } = this.#create();
    try {
      const allocated = this.#allocate(fd, 0, room);
      this.#all.push(segment);
      const previous = this.#fd;
      const used = this.#all[this.#all.length - 2]!.bytes;
      this.#fd = fd;
      this.#allocated = allocated;
      if (this.#damagedUntil === 0) this.#files.ftruncateSync(previous, used);
      this.#damagedUntil = 0;
      this.#files.closeSync(previous);
    } catch (error) {
      if (this.#fd === fd) return;
      this.#files.closeSync(fd);
      this.#files.rmSync(segment.file, { force: true });
      throw error;
    }
  }
}

/** Whether a directory contains segments of any version. */
export function holdsSegments(dir: string): boolean {
  return fs.existsSync(dir) && fs.readdirSync(dir).some(isSegment);
}

const isSegment = (name: string): boolean => /^\d{12}\./.test(name);

/** A file of another version contains settlements that nobody else will make, so it is not skipped. */
function segmentNames(dir: string): string[] {
  const names = fs.readdirSync(dir).filter(isSegment);
  const foreign = names.find((name) => !readableForm.test(name));
  if (foreign === undefined) return names;
  throw new Error(
    `${join(dir, foreign)} was left by another version of Lodestone. Start that version once more, so that it settles it.`,
  );
}
