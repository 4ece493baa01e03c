/** Reads CSV of any size row by row: quoted cells, doubled quotes, line ends inside quotes, CRLF, and a byte order mark. */

export interface CsvRow {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const reader = new CsvReader();
  for await (const piece of pieces) yield* reader.read(piece);
  yield* reader.finish();
}

class CsvReader {
  private line = 1;
  private rowLine = 1;
  private cells: string[] = [];
  private cell = '';
  private quoted = false;
  /** The last character was a quote inside quotes: the end of the cell, or half of a doubled one. */
  private closing = false;
  private first = true;

  *read(piece: string): Generator<CsvRow> {
    const text = this.first ? piece.replace(/^\uFEFF/, '') : piece;
    if (piece !== '') this.first = false;
    for (const character of text) {
      if (this.closing) {
        this.closing = false;
        if (character === '"') {
          this.cell += '"';
          continue;
        }
        this.quoted = false;
      }
      if (character === '\n') this.line++;
      if (this.quoted) {
        if (character === '"') this.closing = true;
        else this.cell += character;
      } else if (character === '"' && this.cell === '') this.quoted = true;
      else if (character === ',') this.endCell();
      else if (character === '\n') yield* this.endRow();
      else if (character !== '\r') this.cell += character;
    }
  }

  *finish(): Generator<CsvRow> {
    if (this.cell !== '' || this.cells.length > 0) yield* this.endRow();
  }

  private endCell(): void {
    this.cells.push(this.cell);
    this.cell = '';
  }

  /** Empty lines are no rows. */
  private *endRow(): Generator<CsvRow> {
    this.endCell();
    const { cells, rowLine } = this;
    this.cells = [];
    this.rowLine = this.line;
    if (cells.length > 1 || cells[0] !== '') yield { line: rowLine, cells };
  }
}
