/** Writes rows of a binary COPY as a Parquet file, one group of rows at a time, so that memory stays constant. */
import { type BasicType, ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { BillBytes, billBytesMax, billColumns, tokenColumns } from './bill-bytes.js';
import type { CopyReader } from './copy-out.js';
import { type ColumnType, copyHeaderBytes, type LineColumn } from './export-lines.js';
import { float64, int32, int64, writeDollars } from './export-values.js';

const rowsOfGroup = 20_000;

/** Amounts are text, because they are exact. */
const types: Record<ColumnType, BasicType> = {
  ...{ text: 'STRING', json: 'STRING', pico: 'STRING' },
  ...{ ms: 'TIMESTAMP', boolean: 'BOOLEAN', integer: 'INT64', float: 'DOUBLE' },
};

export class ParquetRows implements CopyReader {
  readonly #columns: readonly (ColumnSource & { data: unknown[] })[];
  readonly #types: readonly ColumnType[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows = 0;
  #begun = false;
  readonly #bill: BillBytes | null;
  /** The place of each column among the tokens of the bill, or -1. */
  readonly #places: readonly number[];
  #billText = Buffer.alloc(1 << 12);

  /** With `bill` the stored bill comes behind the columns, and is written as `billColumns`. */
  constructor(columns: readonly LineColumn[], bill = false) {
    this.#bill = bill ? new BillBytes('plain') : null;
    this.#places = columns.map(({ name }) => tokenColumns.indexOf(name));
    this.#types = columns.map(({ type }) => type);
    this.#columns = [...columns, ...(bill ? billColumns : [])].map(({ name, type }) => ({
      ...{ name, nullable: true, data: [], type: name === 'status' ? 'INT32' : types[type] },
    }));
    const schema = schemaFromColumnData({ columnData: [...this.#columns] });
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema });
  }

  /** A message has one row. A count of -1 is the end. */
  take(row: Buffer, first: number): Buffer | null {
    const start = first + (this.#begun ? 0 : copyHeaderBytes);
    this.#begun = true;
    if (row[start]! >= 0x80) return null;
    let from = start + 2;
    for (let i = 0; i < this.#types.length; i++) {
      const length = int32(row, from);
      from += 4;
      const { data, type } = this.#columns[i]!;
      const place = this.#places[i]!;
      if (this.#bill && place >= 0) this.#bill.tokens[place] = int64(row, from);
      data.push(length < 0 ? null : type === 'INT32' ? int32(row, from) : cellOf(this.#types[i]!, row, from, length));
      if (length > 0) from += length;
    }
    if (this.#bill) this.#takeBill(this.#bill, row, from);
    return ++this.#rows < rowsOfGroup ? null : this.#writeGroup();
  }

  #takeBill(bill: BillBytes, row: Buffer, from: number): void {
    const length = int32(row, from);
    const most = billBytesMax(length);
    if (most > this.#billText.length) this.#billText = Buffer.alloc(most);
    bill.read(row, from + 4, length);
    for (let i = 0; i < billColumns.length; i++) {
      const { data } = this.#columns[this.#types.length + i]!;
      if (!bill.has(i)) data.push(null);
      else if (i === 0) data.push(bill.tierBytes.toString('utf8', bill.tierFrom, bill.tierTo));
      else data.push(this.#billText.toString('utf8', 0, bill.write(i, this.#billText, 0)));
    }
  }

  end(): Buffer | null {
    if (this.#rows > 0) void this.#writer.write({ columnData: [...this.#columns], rowGroupSize: rowsOfGroup });
    void this.#writer.finish();
    return this.#taken();
  }

  /** The writer works at once, because its target does. */
  #writeGroup(): Buffer {
    void this.#writer.write({ columnData: [...this.#columns], rowGroupSize: rowsOfGroup });
    for (const { data } of this.#columns) data.length = 0;
    this.#rows = 0;
    return this.#taken();
  }

  /** What was written since, out of the writer's buffer. */
  #taken(): Buffer {
    const part = Buffer.from(this.#bytes.buffer.slice(0, this.#bytes.index));
    this.#bytes.index = 0;
    return part;
  }
}

function cellOf(type: ColumnType, row: Buffer, from: number, length: number): unknown {
  switch (type) {
    case 'text':
      return row.toString('utf8', from, from + length);
    case 'json':
      return compactJson(row.toString('utf8', from, from + length));
    case 'integer':
      return BigInt(length === 4 ? int32(row, from) : int64(row, from));
    case 'float':
      return float64(row, from);
    case 'boolean':
      return row[from] === 1;
    case 'pico':
      return amount.toString('latin1', 0, writeDollars(amount, 0, row, from));
    case 'ms':
      return BigInt(int64(row, from));
  }
}

/** Holds any numeric(38). */
const amount = Buffer.alloc(64);

let lastJson = '';
let lastCompact = '';

/** PostgreSQL writes spaces into JSON. Most rows have the text of the row before. */
function compactJson(json: string): string {
  if (json !== lastJson) [lastJson, lastCompact] = [json, JSON.stringify(JSON.parse(json))];
  return lastCompact;
}
