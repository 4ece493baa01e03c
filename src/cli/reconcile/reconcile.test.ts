import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { adminToken, type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { createServer, type LodestoneServer } from '../../http/server/server.js';
import type { CostLine } from '../../wire/cost.js';
import { main } from '../cli.js';
import { type CsvRow, readCsv } from './csv.js';

let fixture: HttpFixture;
let running: LodestoneServer;
let cwd: string;
let env: Record<string, string>;

const line = (name: string, count: number, rate = 1_000_000n): CostLine => ({ name, count, rate });
/** Late on the last day of a month, and early on the first of the next one. */
const lastMs = Date.parse('2026-11-30T23:59:59.999Z');
const firstMs = Date.parse('2026-12-01T00:00:00.000Z');

beforeAll(async () => {
  fixture = await httpFixture();
  running = await createServer(fixture.deps);
  const port = await running.listen(0, '127.0.0.1');
  env = { LODESTONE_URL: `http://127.0.0.1:${port}`, LODESTONE_ADMIN_TOKEN: adminToken };
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-reconcile-'));
  const served = (createdAt: number, lines: CostLine[] | null) =>
    aGeneration({
      ...{ createdAt, accountId: fixture.account.id, keyId: fixture.key.id },
      ...{ servedModel: 'acme/meta/llama/defra', provider: 'acme', costPico: 7_000_000n },
      bill: lines && { lines, tier: null },
    });
  const rows = [
    served(lastMs, [line('input', 70), line('cached_input', 20), line('output', 5), line('reasoning', 3)]),
    served(lastMs - 5000, [line('input', 30), line('cache_write', 6), line('cache_write_1h', 4)]),
    served(firstMs, [line('input', 11), line('tools.web_search', 2, 10_000_000_000n)]),
  ];
  await fixture.store.ledger.settle(rows.map(settlementRow));
});

afterAll(async () => {
  await running.close();
  rmSync(cwd, { recursive: true });
});

async function reconcile(csv: string, ...more: string[]): Promise<{ code: number; out: string; err: string }> {
  writeFileSync(join(cwd, 'invoice.csv'), csv);
  const [out, err]: [string[], string[]] = [[], []];
  const argv = ['reconcile', '--provider', 'acme', '--invoice', 'invoice.csv', ...more];
  const code = await main(argv, { out: (text) => out.push(text), err: (text) => err.push(text), env, cwd });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const anthropicHead =
  'usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,' +
  'usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count';
const openAiHead =
  'start_time_iso,model,num_model_requests,input_tokens,output_tokens,input_cached_tokens,input_audio_tokens';

describe('lodestone reconcile', () => {
  it('finds nothing where the export says what was recorded, also at the end of a month', async () => {
    const rows = [
      '2026-11-30,llama-20260801,k,Default,standard,≤ 200k,100,6,4,20,8,0',
      '2026-12-01,llama-20260801,k,Default,standard,≤ 200k,11,0,0,0,0,2',
    ];
    const { code, out, err } = await reconcile(`\uFEFF${anthropicHead}\r\n${rows.join('\r\n')}\r\n`);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe('12 figures compared, 0 differ.');
  });

  it('shows what differs, by day, model and class, and ends with 1', async () => {
    const csv = `${anthropicHead}\n2026-11-30,llama,k,Default,standard,≤ 200k,101,6,4,20,8,0\n`;
    const { code, out } = await reconcile(csv);
    expect(code).toBe(1);
    expect(out).toMatch(/2026-11-30 +llama +input +100 +101 +-1 +0\.0001 +differs/);
    expect(out).toContain('6 figures compared, 1 differs.');
    expect((await reconcile(csv, '--tolerance', '1')).code).toBe(0);
    expect((await reconcile(csv, '--tolerance', '0.9')).code).toBe(1);
  });

  it('takes what an export includes in its totals out of them: OpenAI’s input has the cached tokens', async () => {
    const { code, out } = await reconcile(`${openAiHead}\n2026-11-30T00:00:00Z,llama,2,130,8,20,0\n`, '--json');
    expect(code).toBe(0);
    const { data } = JSON.parse(out) as { data: { class: string; recorded: { count: number } }[] };
    expect(Object.fromEntries(data.map((row) => [row.class, row.recorded.count]))).toMatchObject({
      ...{ input: 110, output: 8, cached_input: 20, requests: 2 },
    });
  });

  it('compares costs, and exports with a row for each class, by columns that are named', async () => {
    const csv =
      'Date,Model,Kind,Units,Amount\n2026-12-01,llama,tools.web_search,2,"$0.02"\n2026-12-01,llama,input,11,0.000012\n';
    const columns = ['--columns', 'day=Date,model=Model,class=Kind,count=Units,cost=Amount'];
    const { code, out } = await reconcile(csv, ...columns, '--all');
    expect(code).toBe(1);
    expect(out).toMatch(/input +11 +11 +0 +0\.000011 +0\.000012 +-0\.000001 +differs/);
    expect(out).toMatch(/tools\.web_search +2 +2 +0 +0\.02 +0\.02 +0\n/);
    const total = await reconcile('d,m,c\n2026-12-01,llama,0.020011\n', '--columns', 'day=d,model=m,cost=c');
    expect(total).toMatchObject({ code: 0, out: '1 figures compared, 0 differ.' });
  });

  it('names rows that cannot be read by their line, compares the others, and ends with 1', async () => {
    const rows = [
      '2026-12-01,llama,1,11,0,0,0',
      '2026-12-32,llama,1,1,0,0,0',
      '"2026-12-01\n",llama,1,x,0,0,0',
      '2026-12-01,llama,1',
      '2026-12-01,,1,1,0,0,0',
      '2026-12-01,llama,1,5,0,6,0',
    ];
    const { code, out, err } = await reconcile(`${openAiHead}\n${rows.join('\n')}\n`);
    expect([code, out]).toEqual([1, '5 figures compared, 0 differ.']);
    expect(err.split('\n')).toEqual([
      'invoice.csv: line 3: start_time_iso: found "2026-12-32", expected a date such as 2026-11-16',
      'invoice.csv: line 4: input_tokens: found "x", expected a count',
      'invoice.csv: line 6: found 3 cells, expected 7, as in the first line',
      'invoice.csv: line 7: model: found nothing, expected a model',
      'invoice.csv: line 8: input_tokens: is less than input_cached_tokens + input_audio_tokens, which it includes',
    ]);
  });

  it.each([
    ['a,b\n1,2\n', [], 'The columns are those of no preset'],
    ['a,b\n1,2\n', ['--columns', 'day=a,model=b'], 'nothing to compare'],
    ['a,b\n1,2\n', ['--columns', 'day=a,model=b,cost=c'], 'no column "c"'],
    ['a,b\n1,2\n', ['--columns', 'day=a,model=b,tokens=c'], 'no field "tokens"'],
    ['a,b\n1,2\n', ['--preset', 'other'], 'no preset "other"'],
    ['a,b\n1,2\n', ['--tolerance', 'all'], 'not a percentage'],
    ['', [], 'The invoice is empty'],
  ])('%j with %j: %s', async (csv, more, said) => {
    const { code, err } = await reconcile(csv, ...more);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(said);
  });
});

it('CSV is read the same in whatever pieces it comes', async () => {
  const text = '\uFEFFa,"b ""x""",c\r\n"1\n2",,3\n\n4,5,"6"';
  const rows = async (pieces: string[]): Promise<CsvRow[]> => {
    const all: CsvRow[] = [];
    for await (const row of readCsv(Readable.from(pieces))) all.push(row);
    return all;
  };
  const expected = [
    { line: 1, cells: ['a', 'b "x"', 'c'] },
    { line: 2, cells: ['1\n2', '', '3'] },
    { line: 5, cells: ['4', '5', '6'] },
  ];
  expect(await rows([text])).toEqual(expected);
  expect(await rows([...text])).toEqual(expected);
});
