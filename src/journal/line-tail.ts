/**
 * Reads journals of the form that earlier versions wrote: a line of text for each record, zeros after the last. Their process is gone. A
 * provisional line counts only where it is the last one of its generation.
 */
import fs from 'node:fs';
import { readSettlementRow, rowId } from '../domain/settlement-row.js';
import { type Source, type SourceEvents, type Waiting, waitingRow } from './source.js';

/** The first byte of a provisional line. No generation's id begins with it. */
const provisionalMark = 63;
const newline = 10;
const readBytes = 1 << 19;

interface LineEvents extends SourceEvents {
  /** A line that is no record; false where it could not be set aside. */
  unreadable(line: string, error: unknown): boolean;
  /** The process was stopped in the middle of a line; its request was never answered in full. */
  torn(file: string): void;
}

export class LineTail implements Source {
  readonly run = null;
  #file = 0;
  #offset = 0;
  #position = 0;
  #held = Number.POSITIVE_INFINITY;
  /** The position of the last line of each generation that has only provisional ones. */
  readonly #due = new Map<string, number>();

  constructor(
    readonly dir: string,
    private readonly names: readonly string[],
    private readonly events: LineEvents,
  ) {
    let position = 0;
    for (let file = 0; file < names.length; file++) position = this.#scan(file, position);
    events.estimated(this.#due.size);
  }

  get position(): number {
    return this.#position;
  }

  /** A line that is no record and could not be set aside keeps its file. */
  get needed(): number {
    return Math.min(this.#held, this.#position);
  }

  get isOver(): boolean {
    return this.#file === this.names.length;
  }

  files(): readonly string[] {
    return this.#held === Number.POSITIVE_INFINITY ? this.names : [];
  }

  read(): Waiting[] {
    const rows: Waiting[] = [];
    while (rows.length === 0 && !this.isOver) {
      const file = this.names[this.#file]!;
      const { lines, isLast, torn } = readLines(file, this.#offset);
      const from = this.#position;
      for (const line of linesIn(lines)) {
        const place = from + line.start;
        if (line.isProvisional && this.#due.get(idOf(lines, line)) !== place) continue;
        this.#add(lines, line, place, from + line.end, rows);
      }
      this.#offset += lines.length;
      this.#position += lines.length;
      if (!isLast) continue;
      if (torn) this.events.torn(file);
      this.#file++;
      this.#offset = 0;
    }
    return rows;
  }

  #add(bytes: Buffer, { textStart, end }: Line, place: number, position: number, rows: Waiting[]): void {
    try {
      rows.push(waitingRow(this, readSettlementRow(bytes, textStart, end), place, position));
    } catch (error) {
      if (!this.events.unreadable(bytes.toString('utf8', textStart, end - 1), error))
        this.#held = Math.min(this.#held, place);
    }
  }

  #scan(file: number, position: number): number {
    let at = position;
    for (let offset = 0; ; ) {
      const { lines, isLast } = readLines(this.names[file]!, offset);
      for (const line of linesIn(lines)) {
        const id = idOf(lines, line);
        this.#due.delete(id);
        if (line.isProvisional) this.#due.set(id, at + line.start);
      }
      offset += lines.length;
      at += lines.length;
      if (isLast) return at;
    }
  }
}

interface Line {
  readonly isProvisional: boolean;
  readonly start: number;
  /** Behind the mark of a provisional line. */
  readonly textStart: number;
  readonly end: number;
}

function* linesIn(lines: Buffer): Generator<Line> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(newline, start) + 1;
    const isProvisional = lines[start] === provisionalMark;
    yield { isProvisional, start, textStart: isProvisional ? start + 1 : start, end };
    start = end;
  }
}

const idOf = (bytes: Buffer, { textStart }: Line): string => rowId({ bytes, start: textStart });

/** The complete lines from an offset on, about half a megabyte (at least one). */
function readLines(file: string, offset: number): { lines: Buffer; isLast: boolean; torn: boolean } {
  const fd = fs.openSync(file, 'r');
  try {
    for (let size = readBytes; ; size *= 2) {
      const buffer = Buffer.allocUnsafe(size);
      const got = buffer.subarray(0, fs.readSync(fd, buffer, 0, size, offset));
      // No line contains a zero, so here begins the allocated space.
      const used = got.indexOf(0);
      const text = used === -1 ? got : got.subarray(0, used);
      const lines = text.subarray(0, text.lastIndexOf(newline) + 1);
      const isLast = text.length < size;
      if (lines.length > 0 || isLast) return { lines, isLast, torn: isLast && lines.length < text.length };
    }
  } finally {
    fs.closeSync(fd);
  }
}
