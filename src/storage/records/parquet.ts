/** Writes rows of a binary COPY as a Parquet file, one group of rows at a time, so that memory stays constant. */
import { type BasicType, ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { BillBytes, billBytesMax, billColumns, type Target, tokenColumns } from './bill-bytes.js';
import type { CopyReader } from './copy-out.js';
import { type ColumnType, copyHeaderBytes, type LineColumn } from './export-lines.js';
import { int64, viewOf, writeDollars } from './export-values.js';

const rowsOfGroup = 20_000;

/** Amounts are text, because they are exact. */
const types: Record<ColumnType, BasicType> = {
  ...{ text: 'STRING', json: 'STRING', pico: 'STRING' },
  ...{ ms: 'TIMESTAMP', boolean: 'BOOLEAN', integer: 'INT64', float: 'DOUBLE' },
};

export class ParquetRows implements CopyReader {
  readonly #columns: readonly (ColumnSource & { data: unknown[] })[];
  readonly #types: readonly ColumnType[];
  readonly #file = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows = 0;
  #begun = false;
  readonly #bill: BillBytes | null;
  /** The place of each column among the tokens of the bill, or -1. */
  readonly #places: readonly number[];
  #billText = targetOf(1 << 12);
  /** The bytes that rows come in, and what reads them. */
  #bytes: Buffer = Buffer.alloc(0);
  #view = viewOf(this.#bytes);

  /** With `bill` the stored bill comes behind the columns, and is written as `billColumns`. */
  constructor(columns: readonly LineColumn[], bill = false) {
    this.#bill = bill ? new BillBytes('plain') : null;
    this.#places = columns.map(({ name }) => tokenColumns.indexOf(name));
    this.#types = columns.map(({ type }) => type);
    this.#columns = [...columns, ...(bill ? billColumns : [])].map(({ name, type }) => ({
      ...{ name, nullable: true, data: [], type: name === 'status' ? 'INT32' : types[type] },
    }));
    const schema = schemaFromColumnData({ columnData: [...this.#columns] });
    this.#writer = new ParquetWriter({ writer: this.#file, schema });
  }

  /** A message has one row. A count of -1 is the end. */
  take(bytes: Buffer, first: number): Buffer | null {
    if (bytes !== this.#bytes) [this.#bytes, this.#view] = [bytes, viewOf(bytes)];
    const row = this.#view;
    const start = first + (this.#begun ? 0 : copyHeaderBytes);
    this.#begun = true;
    if (bytes[start]! >= 0x80) return null;
    let from = start + 2;
    for (let i = 0; i < this.#types.length; i++) {
      const length = row.getInt32(from);
      from += 4;
      const { data, type } = this.#columns[i]!;
      const place = this.#places[i]!;
      if (this.#bill && place >= 0) this.#bill.tokens[place] = int64(row, from);
      if (length < 0) data.push(null);
      else data.push(type === 'INT32' ? row.getInt32(from) : cellOf(this.#types[i]!, bytes, row, from, length));
      if (length > 0) from += length;
    }
    if (this.#bill) this.#takeBill(this.#bill, bytes, from, row.getInt32(from));
    return ++this.#rows < rowsOfGroup ? null : this.#writeGroup();
  }

  #takeBill(bill: BillBytes, bytes: Buffer, from: number, length: number): void {
    const most = billBytesMax(length);
    if (most > this.#billText.buffer.length) this.#billText = targetOf(most);
    bill.read(bytes, from + 4, length);
    for (let i = 0; i < billColumns.length; i++) {
      const { data } = this.#columns[this.#types.length + i]!;
      if (!bill.has(i)) data.push(null);
      else if (i === 0) data.push(bill.tierBytes.toString('utf8', bill.tierFrom, bill.tierTo));
      else data.push(this.#billText.buffer.toString('utf8', 0, bill.write(i, this.#billText, 0)));
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
    const part = Buffer.from(this.#file.buffer.slice(0, this.#file.index));
    this.#file.index = 0;
    return part;
  }
}

function targetOf(length: number): Target {
  const buffer = Buffer.alloc(length);
  return { buffer, view: viewOf(buffer) };
}

function cellOf(
  ...[type, bytes, row, from, length]: [ColumnType, bytes: Buffer, row: DataView, from: number, length: number]
): unknown {
  switch (type) {
    case 'text':
      return bytes.toString('utf8', from, from + length);
    case 'json':
      return compactJson(bytes.toString('utf8', from, from + length));
    case 'integer':
      return BigInt(length === 4 ? row.getInt32(from) : int64(row, from));
    case 'float':
      return row.getFloat64(from);
    case 'boolean':
      return bytes[from] === 1;
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
