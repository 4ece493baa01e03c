/**
 * The journal's files: numbered segments, of which the last is written to. Lines that were appended are whole and in the
 * system's hands when the call returns, so they outlive the process; lines that could not be written leave no trace.
 */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export interface Segment {
  readonly number: number;
  readonly file: string;
  /** The size up to which it holds lines that were written whole. */
  bytes: number;
  /** Its records that wait in memory. */
  outstanding: number;
}

/** Below this size it is not worth emptying the active segment when everything is settled. */
const resetBytes = 1 << 20;
const readBytes = 1 << 19;
const newline = 10;
/** The form of the lines is part of a file's name: raised when it changes, so that no line is ever taken for another. */
const form = '2';
const ofThisForm = new RegExp(`^\\d{12}\\.${form}\\.log$`);

export class Segments {
  /** Oldest first; the last is the active one. */
  readonly #all: Segment[];
  #fd: number;
  /** The active segment ends in part of a line that could not be taken back. */
  #torn = false;
  #closed = false;
  #writeStart = 0;

  constructor(
    private readonly dir: string,
    private readonly segmentBytes: number,
  ) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#all = segmentNames(dir)
      .sort()
      .map((name) => ({ number: Number.parseInt(name, 10), file: join(dir, name), bytes: 0, outstanding: 0 }));
    for (const segment of this.#all) segment.bytes = statSync(segment.file).size;
    this.#fd = this.#open();
  }

  get first(): Segment {
    return this.#all[0]!;
  }

  /** Where, in its segment, the lines begin that were appended last. */
  get writeStart(): number {
    return this.#writeStart;
  }

  get active(): Segment {
    return this.#all[this.#all.length - 1]!;
  }

  after(segment: Segment): Segment | undefined {
    return this.#all[this.#all.indexOf(segment) + 1];
  }

  /** Adds whole lines by one write. Throws where the disk does not take all of it. */
  append(bytes: Buffer, start: number, end: number): Segment {
    if (this.#closed) throw new Error('The journal is closed.');
    if (this.#torn || this.active.bytes >= this.segmentBytes) this.#rotate();
    const { active } = this;
    let written = 0;
    try {
      written = writeSync(this.#fd, bytes, start, end - start);
    } finally {
      if (written !== end - start) this.#takeBack(active);
    }
    if (written !== end - start) throw new Error('The disk took only part of the journal records.');
    this.#writeStart = active.bytes;
    active.bytes += written;
    return active;
  }

  /** The whole lines from an offset on, about half a megabyte of them (one at least), and the offset behind them. */
  read(segment: Segment, offset: number): { lines: Buffer; offset: number } {
    const fd = openSync(segment.file, 'r');
    try {
      for (let size = readBytes; ; size *= 2) {
        const wanted = Math.min(size, segment.bytes - offset);
        const buffer = Buffer.allocUnsafe(wanted);
        const got = readSync(fd, buffer, 0, wanted, offset);
        const end = buffer.subarray(0, got).lastIndexOf(newline) + 1;
        if (end > 0) return { lines: buffer.subarray(0, end), offset: offset + end };
        if (got < size) return { lines: buffer.subarray(0, 0), offset };
      }
    } finally {
      closeSync(fd);
    }
  }

  /** Deletes what is fully settled, oldest first, up to (not with) a segment that is still to be read. */
  retire(unread: Segment | undefined): void {
    while (this.first !== this.active && this.first !== unread && this.first.outstanding === 0) {
      rmSync(this.first.file, { force: true });
      this.#all.shift();
    }
  }

  /** Everything is settled: an active segment of some size is emptied, so that a replay has little to do. */
  empty(): void {
    if (this.active.bytes < resetBytes) return;
    ftruncateSync(this.#fd, 0);
    this.active.bytes = 0;
  }

  /** `settled`: nothing of the active segment is needed any more. */
  close(settled: boolean): void {
    this.#closed = true;
    closeSync(this.#fd);
    if (settled) rmSync(this.active.file, { force: true });
  }

  #open(): number {
    const number = (this.#all.at(-1)?.number ?? 0) + 1;
    const file = join(this.dir, `${String(number).padStart(12, '0')}.${form}.log`);
    const fd = openSync(file, 'ax', 0o600);
    this.#all.push({ number, file, bytes: 0, outstanding: 0 });
    return fd;
  }

  #rotate(): void {
    const previous = this.#fd;
    this.#fd = this.#open();
    this.#torn = false;
    closeSync(previous);
  }

  #takeBack(active: Segment): void {
    try {
      ftruncateSync(this.#fd, active.bytes);
    } catch {
      this.#torn = true;
    }
  }
}

/** Whether a directory has segments of any version in it. */
export function holdsSegments(dir: string): boolean {
  return existsSync(dir) && readdirSync(dir).some(isSegment);
}

const isSegment = (name: string): boolean => /^\d{12}\./.test(name);

/** A file that another version left holds settlements that nobody else will make, so it is not passed over. */
function segmentNames(dir: string): string[] {
  const names = readdirSync(dir).filter(isSegment);
  const foreign = names.find((name) => !ofThisForm.test(name));
  if (foreign === undefined) return names;
  throw new Error(
    `${join(dir, foreign)} was left by another version of Lodestone. Start that version once more, so that it settles it.`,
  );
}
