/** Turns exported lines of JSON into a Parquet file, one group of rows at a time, so that memory stays constant. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type BasicType, ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';

const rowsOfGroup = 20_000;

/** Columns that are not text. Amounts are text, because they are exact. */
const types: Record<string, BasicType> = {
  created_at: 'TIMESTAMP',
  streamed: 'BOOLEAN',
  fallback_occurred: 'BOOLEAN',
  status: 'INT32',
  prompt_tokens: 'INT64',
  completion_tokens: 'INT64',
  cached_tokens: 'INT64',
  reasoning_tokens: 'INT64',
  latency_ms: 'DOUBLE',
  first_byte_ms: 'DOUBLE',
};

type Line = Record<string, unknown>;

export function parquetOf(lines: Readable, columns: readonly string[]): Readable {
  return Readable.from(groupsOf(lines, columns), { objectMode: false });
}

async function* groupsOf(lines: Readable, columns: readonly string[]): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({ columnData: columns.map((name) => columnOf(name, [])) });
  const writer = new ParquetWriter({ writer: bytes, schema });
  const write = async (rows: readonly Line[]) => {
    await writer.write({ columnData: columns.map((name) => columnOf(name, rows)), rowGroupSize: rowsOfGroup });
  };
  let rows: Line[] = [];
  for await (const line of createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') rows.push(JSON.parse(line) as Line);
    if (rows.length < rowsOfGroup) continue;
    await write(rows);
    rows = [];
    yield taken(bytes);
  }
  if (rows.length > 0) await write(rows);
  await writer.finish();
  yield taken(bytes);
}

/** What was written since, out of the writer's buffer. */
function taken(bytes: ByteWriter): Uint8Array {
  const part = new Uint8Array(bytes.buffer.slice(0, bytes.index));
  bytes.index = 0;
  return part;
}

function columnOf(name: string, rows: readonly Line[]): ColumnSource {
  const type = types[name] ?? 'STRING';
  return { name, type, nullable: true, data: rows.map((row) => cellOf(row[name], type)) };
}

function cellOf(value: unknown, type: BasicType): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'TIMESTAMP') return new Date(String(value));
  if (type === 'INT64') return BigInt(value as number);
  return type === 'STRING' && typeof value !== 'string' ? JSON.stringify(value) : value;
}
