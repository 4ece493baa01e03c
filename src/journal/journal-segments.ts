/**
 * The files that one process writes its records to: numbered segments, of which the last is written to. Together they are one stream of
 * bytes, and a position in it stands for everything before. A segment holds frames and, after them, zeros: space that is allocated in
 * advance, so that a record fits when the disk is full. Appended records are in the operating system when the call returns, so they
 * survive the process. Another process reads the files meanwhile, so what is written stays as it is until it is settled.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { voidRecord } from './record.js';
import { segmentName, segmentNumber, segmentsIn, spareName } from './segment-names.js';

interface Segment {
  readonly number: number;
  readonly file: string;
  /** The position of its first byte. */
  readonly base: number;
  /** The size up to which it holds complete records. */
  bytes: number;
}

/** The calls to the file system. Tests replace them to make the disk fail. */
export type JournalFiles = Pick<
  typeof fs,
  | 'closeSync'
  | 'fdatasync'
  | 'fdatasyncSync'
  | 'ftruncateSync'
  | 'openSync'
  | 'renameSync'
  | 'rmSync'
  | 'statfsSync'
  | 'writeSync'
>;

interface SegmentOptions {
  /** The name of this process's stream. */
  run: string;
  segmentBytes: number;
  /** Space is allocated in steps of this size. */
  stepBytes: number;
  files?: JournalFiles | undefined;
}

const zeros = Buffer.alloc(256 * 1024);

export class Segments {
  /** Oldest first; the last is the active one. */
  readonly #all: Segment[] = [];
  readonly #files: JournalFiles;
  readonly #run: string;
  readonly #segmentBytes: number;
  readonly #stepBytes: number;
  #fd: number;
  /** The size of the active segment, zeros included. */
  #allocated = 0;
  /** Up to here, part of a failed write may stand after the last complete record. */
  #damagedUntil = 0;
  /** Whether the last attempt to allocate space failed. */
  #short = false;
  #closed = false;

  constructor(
    private readonly dir: string,
    { run, segmentBytes, stepBytes, files = fs }: SegmentOptions,
  ) {
    this.#files = files;
    this.#run = run;
    this.#segmentBytes = segmentBytes;
    this.#stepBytes = stepBytes;
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    fs.rmSync(join(dir, spareName), { force: true });
    const last = Math.max(0, ...segmentsIn(dir).map(segmentNumber));
    const segment = this.#segment(last + 1, 0);
    this.#fd = this.#files.openSync(segment.file, 'wx', 0o600);
    this.#all.push(segment);
  }

  /** The position after the last complete record. */
  get end(): number {
    return this.#active.base + this.#active.bytes;
  }

  get #active(): Segment {
    return this.#all[this.#all.length - 1]!;
  }

  /** The allocated bytes of the active segment that no record uses. */
  get room(): number {
    return this.#allocated - this.#active.bytes;
  }

  /** Allocates until there is that much space. Throws where the disk refuses. */
  makeRoom(bytes: number): void {
    if (this.room >= bytes) return;
    this.#short = true;
    this.#allocated = this.#allocate(this.#fd, this.#allocated, this.#active.bytes + bytes);
    this.#short = false;
  }

  /** Appends complete records and leaves `reserved` bytes of space after them in a new segment. Throws where the disk refuses. */
  append(bytes: Buffer, start: number, end: number, reserved = 0): void {
    if (this.#closed) throw new Error('The journal is closed.');
    const size = end - start;
    this.#repair(reserved + size);
    if (this.#active.bytes >= this.#segmentBytes) this.#rotateIfPossible(reserved + size);
    this.makeRoom(size);
    const active = this.#active;
    this.#damagedUntil = active.bytes + size;
    this.#writeAll(this.#fd, bytes, start, size, active.bytes);
    this.#damagedUntil = 0;
    active.bytes += size;
  }

  /** Resolves when what is written is on the disk. */
  sync(done: (error: Error | null) => void): void {
    this.#files.fdatasync(this.#fd, done);
  }

  /** Returns when what is written is on the disk. */
  syncNow(): void {
    this.#files.fdatasyncSync(this.#fd);
  }

  /** Throws where the disk accepts no writes. A zero after the last record changes nothing. */
  checkWritable(): void {
    this.#repair(0);
    if (this.room > 0) this.#writeAll(this.#fd, zeros, 0, 1, this.#active.bytes);
  }

  /** The free space of the disk for this process; null where the file system does not report it. */
  freeBytes(): number | null {
    const { blocks, bavail, bfree, bsize } = this.#files.statfsSync(this.dir);
    // Root may use the blocks that a file system reserves.
    return blocks === 0 ? null : (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  }

  /** What was written from a position on, file by file. */
  *from(position: number): Generator<Buffer> {
    for (const { file, base, bytes } of this.#all) {
      const start = Math.max(0, position - base);
      if (start < bytes) yield bytesOf(file, start, bytes);
    }
  }

  /** Deletes the segments before a position. */
  retire(position: number): void {
    for (let [first] = this.#all; first && first !== this.#active; [first] = this.#all) {
      if (first.base + first.bytes > position) return;
      this.#files.rmSync(first.file, { force: true });
      this.#all.shift();
    }
  }

  /**
   * Everything is settled, and the active segment cannot grow: it becomes the next one and is used from its beginning again. It keeps its
   * space, at least `reserved` bytes and one step, because a full disk would not give it back.
   */
  reuse(reserved: number): void {
    const { number, file, bytes } = this.#active;
    if (bytes === 0 || !this.#short) return;
    const used = Math.max(bytes, this.#damagedUntil);
    // A reader that has read it all meets zeros, and finds the new name later.
    this.#fill(0, used);
    const next = this.#segment(number + 1, this.end);
    this.#files.renameSync(file, next.file);
    this.#all[this.#all.length - 1] = next;
    this.#damagedUntil = 0;
    const kept = reserved + this.#stepBytes;
    if (this.#allocated <= 2 * kept) return;
    this.#files.ftruncateSync(this.#fd, kept);
    this.#allocated = kept;
  }

  /** `settled`: no segment is needed any more. */
  close(settled: boolean): void {
    this.#closed = true;
    if (!settled && this.#damagedUntil === 0) this.#files.ftruncateSync(this.#fd, this.#active.bytes);
    this.#files.closeSync(this.#fd);
    if (settled) for (const { file } of this.#all) this.#files.rmSync(file, { force: true });
  }

  #segment(number: number, base: number): Segment {
    return { number, base, bytes: 0, file: join(this.dir, segmentName(number, this.#run, base)) };
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

  #fill(from: number, to: number): void {
    for (let at = from; at < to; at += zeros.length)
      this.#writeAll(this.#fd, zeros, 0, Math.min(zeros.length, to - at), at);
  }

  /**
   * Puts a void record over what a failed write left. That space is not used again, because a reader may already be behind records in it.
   * Where this fails too, a new segment begins.
   */
  #repair(room: number): void {
    if (this.#damagedUntil === 0) return;
    try {
      const gap = voidRecord(this.#damagedUntil - this.#active.bytes);
      this.#writeAll(this.#fd, gap, 0, gap.length, this.#active.bytes);
      this.#allocated = Math.max(this.#allocated, this.#damagedUntil);
      this.#active.bytes = this.#damagedUntil;
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

  /** The new segment gets its name when it has its space: for a reader, the name says that the one before is complete. */
  #rotate(room: number): void {
    const segment = this.#segment(this.#active.number + 1, this.end);
    const spare = join(this.dir, spareName);
    this.#files.rmSync(spare, { force: true });
    const fd = this.#files.openSync(spare, 'wx', 0o600);
    try {
      const allocated = this.#allocate(fd, 0, room);
      this.#files.renameSync(spare, segment.file);
      this.#files.closeSync(this.#fd);
      this.#all.push(segment);
      this.#fd = fd;
      this.#allocated = allocated;
      this.#damagedUntil = 0;
    } catch (error) {
      this.#files.closeSync(fd);
      this.#files.rmSync(spare, { force: true });
      throw error;
    }
  }
}

function bytesOf(file: string, start: number, end: number): Buffer {
  const fd = fs.openSync(file, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(end - start);
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, start));
  } finally {
    fs.closeSync(fd);
  }
}
