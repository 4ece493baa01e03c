/**
 * Counts any number of names in a fixed piece of memory (a count-min sketch). A name's count is never too low, so a flood of
 * names frees nobody; it is too high only where every cell of a name is shared with busy ones, which random hashing makes rare.
 */
import { randomFillSync } from 'node:crypto';

const rows = 4;
/** With 300,000 names a cell is shared by one or two of them, so that all four of a name's cells are busy nearly never. */
const columns = 2 ** 18;
/** Peers, the names that come in floods, have at most this many characters. */
const hashedCharacters = 24;
const tableLength = hashedCharacters * 256;

export class CountSketch {
  /** 8 MiB; doubles, because sums of tokens outgrow 32 bits. */
  private readonly cells = new Float64Array(rows * columns);
  /**
   * Two tables of random words, one word for each character at each place. Whoever chooses the names cannot see them, so
   * names that share their cells with a victim's cannot be chosen either.
   */
  private readonly words = randomFillSync(new Uint32Array(2 * tableLength));

  /** All names share one window. */
  constructor(readonly endsAtMs: number) {}

  windowOf(name: string): SketchWindow {
    let first = 0;
    let step = 0;
    for (let at = 0; at < name.length; at++) {
      const word = (at % hashedCharacters) * 256 + (name.charCodeAt(at) & 255);
      first ^= this.words[word]!;
      step ^= this.words[tableLength + word]!;
    }
    return new SketchWindow(this.endsAtMs, this.cells, first, step | 1);
  }
}

/** One name's cells: one in each row. */
class SketchWindow {
  constructor(
    readonly endsAtMs: number,
    private readonly cells: Float64Array,
    private readonly first: number,
    private readonly step: number,
  ) {}

  get used(): number {
    let least = Number.POSITIVE_INFINITY;
    for (let row = 0; row < rows; row++) least = Math.min(least, this.cells[this.cellOf(row)]!);
    return least;
  }

  add(amount: number): void {
    for (let row = 0; row < rows; row++) this.cells[this.cellOf(row)]! += amount;
  }

  private cellOf(row: number): number {
    return row * columns + ((this.first + Math.imul(row, this.step)) & (columns - 1));
  }
}
