import { arrayBuffer, text } from 'node:stream/consumers';
import { parquetReadObjects } from 'hyparquet';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { Database } from '../database.js';
import { copyOut } from './copy-out.js';
import { type LineColumn, LineWriter } from './export-lines.js';
import { ParquetRows } from './parquet.js';

let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = new Database({ connection: fresh.connection }, logger, 2, 60_000);
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const columns: LineColumn[] = [
  ...(['name', 'other'] as const).map((name) => ({ name, type: 'text' as const })),
  { name: 'list', type: 'json' },
  { name: 'small', type: 'integer' },
  { name: 'large', type: 'integer' },
  { name: 'ratio', type: 'float' },
  { name: 'fine', type: 'float' },
  { name: 'yes', type: 'boolean' },
  { name: 'usd', type: 'pico' },
  { name: 'at', type: 'ms' },
];

/** Every character below 256 and some above, amounts of every length, times around the edges of days, and nulls. */
const rows = `
  select case when i % 7 = 0 then null when i % 11 = 0 then '' else 'a' || chr(1 + i % 400) || 'b"\\c,' || chr(1 + i % 33) end as name,
    case i % 3 when 0 then 'plain' when 1 then 'größe 🎈' else 'x' end as other, '["a","b ' || i || '"]' as list, i - 50 as small,
    (i - 3) * 4503599627 as large, (i * 7919 % 100003) / 4.0::float8 as ratio, (i * 7919 % 100003) / (10::float8 ^ (i % 6)) as fine, i % 2 = 0 as yes,
    ((i % 10) * (10::numeric ^ (i % 31)) * (case when i % 5 = 0 then -1 else 1 end))::numeric(38,0) as pico,
    1700000000000 + i::bigint * 43200000 - i % 2 as ms
  from generate_series(1, 800) i`;

const plain = `select name, other, list, small, large, ratio, fine, yes, pico, ms from (${rows}) r`;
const asPostgresWrites = (list: string, yes: string) => `
  select name, other, ${list} as list, small, large, ratio, fine, ${yes} as yes, trim_scale(pico * 0.000000000001)::text as usd,
    to_char(to_timestamp(ms / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from (${rows}) r`;

const written = (format: 'ndjson' | 'csv') =>
  text(copyOut(database, `copy (${plain}) to stdout (format binary)`, new LineWriter(columns, format)));

it('writes CSV as PostgreSQL does', async () => {
  const expected = await text(
    copyOut(database, `copy (${asPostgresWrites('list', 'yes::text')}) to stdout (format csv, header)`),
  );
  expect((await written('csv')) === expected).toBe(true);
  expect(expected.split('\n').length).toBeGreaterThan(800);
});

it('writes an apostrophe before a text of CSV that a spreadsheet would take for a formula, and no header on a later page', async () => {
  const texts = ['=1', '+1', '-1', '@a', '\t=', '\r=', '=HYPERLINK("http://evil","x")', 'a=1', ''];
  const values = texts.map((value) => `(${pg.escapeLiteral(value)}, -1::bigint, -5::numeric(38,0))`).join(',');
  const lines: LineColumn[] = [
    { name: 'name', type: 'text' },
    { name: 'count', type: 'integer' },
    { name: 'usd', type: 'pico' },
  ];
  const statement = `copy (values ${values}) to stdout (format binary)`;
  const csv = await text(copyOut(database, statement, new LineWriter(lines, 'csv')));
  const rest = ',-1,-0.000000000005\n';
  const cells = ["'=1", "'+1", "'-1", "'@a", "'\t=", `"'\r="`, `"'=HYPERLINK(""http://evil"",""x"")"`, 'a=1', '""'];
  expect(await text(copyOut(database, statement, new LineWriter(lines, 'csv', false, true)))).toBe(
    csv.slice('name,count,usd\n'.length),
  );
  expect(csv).toBe(`name,count,usd\n${cells.map((cell) => cell + rest).join('')}`);
  const json = await text(copyOut(database, statement, new LineWriter(lines, 'ndjson')));
  expect(
    json
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name),
  ).toEqual(texts);
});

it('writes JSON with the values that PostgreSQL writes', async () => {
  const lines = await text(
    copyOut(
      database,
      `copy (select row_to_json(line)::text from (${asPostgresWrites('list::json', 'yes')}) line)
       to stdout (format csv, delimiter e'\\x02', quote e'\\x01')`,
    ),
  );
  const parse = (all: string) =>
    all
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  expect(parse(await written('ndjson'))).toEqual(parse(lines));
  expect((await written('ndjson')) === lines).toBe(true);
});

it('writes nothing but the header where there is no row', async () => {
  const none = (format: 'ndjson' | 'csv') =>
    text(copyOut(database, `copy (${plain} where false) to stdout (format binary)`, new LineWriter(columns, format)));
  expect(await none('csv')).toBe('name,other,list,small,large,ratio,fine,yes,usd,at\n');
  expect(await none('ndjson')).toBe('');
});

it('writes Parquet with the values of the lines', async () => {
  const source = `copy (${plain}) to stdout (format binary)`;
  const read = async () =>
    parquetReadObjects({ file: await arrayBuffer(copyOut(database, source, new ParquetRows(columns))) });
  const expected = (await written('ndjson'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ list, small, large, at, ...rest }) => ({
      ...{ ...rest, list: JSON.stringify(list), small: BigInt(small), large: BigInt(large), at: new Date(at) },
    }));
  expect(await read()).toEqual(expected);
  expect(expected.length).toBe(800);
});
