/** Writes rows of a binary COPY as a Parquet file, one group of rows at a time, so that memory stays constant. */
import { type BasicType, ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import type { CopyReader } from './copy-out.js';
import { type ColumnType, copyHeaderBytes, type LineColumn } from './export-lines.js';
import { float64, int32, int64, writeDollars } from './export-values.js';

const rowsOfGroup = 20_000;

/** Amounts are text, because they are exact. */
const types: Record<ColumnType, BasicType> = {
  ...{ text: 'STRING', json: 'STRING', pico: 'STRING', ready: 'STRING' },
  ...{ ms: 'TIMESTAMP', boolean: 'BOOLEAN', integer: 'INT64', float: 'DOUBLE' },
};

export class ParquetRows implements CopyReader {
  readonly #columns: readonly (ColumnSource & { data: unknown[] })[];
  readonly #types: readonly ColumnType[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows = 0;
  #begun = false;

  constructor(columns: readonly LineColumn[]) {
    this.#types = columns.map(({ type }) => type);
    this.#columns = columns.map(({ name, type }) => ({
      ...{ name, nullable: true, data: [], type: name === 'status' ? 'INT32' : types[type] },
    }));
    const schema = schemaFromColumnData({ columnData: [...this.#columns] });
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema });
  }

  /** A message has one row. A count of -1 is the end. */
  take(row: Buffer): Buffer | null {
    const start = this.#begun ? 0 : copyHeaderBytes;
    this.#begun = true;
    if (row[start]! >= 0x80) return null;
    let from = start + 2;
    for (let i = 0; i < this.#columns.length; i++) {
      const length = int32(row, from);
      from += 4;
      const { data, type } = this.#columns[i]!;
      data.push(length < 0 ? null : type === 'INT32' ? int32(row, from) : cellOf(this.#types[i]!, row, from, length));
      if (length > 0) from += length;
    }
    return ++this.#rows < rowsOfGroup ? null : this.#writeGroup();
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
    case 'ready':
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
