/**
 * Measures the stored records with many rows: the overview of an account, settlements, the sum at start, and an export. It fills an
 * embedded store in a folder of its own. `node bench/records.mjs --rows 2000000 --dir /tmp/records-bench`, after `npm run build`.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../dist/storage/embedded/embedded.js';
import { openStore } from '../dist/storage/open-store.js';

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, dir: { type: 'string', default: '/tmp/records-bench' } },
});
const rows = Number(values.rows);
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const dayMs = 86_400_000;
const days = 90;
const accounts = 5;
const now = Date.now();

mkdirSync(values.dir, { recursive: true });
const embedded = await startEmbedded({ dataDir: values.dir, logger, connectionsMax: 20 });
const store = await openStore({ connection: embedded.connection, logger });
try {
  console.log(`${rows} generations of ${accounts} accounts over ${days} days, ${cpus().length} x ${cpus()[0]?.model}`);
  await timed('fill', fill);
  await timed('roll up', () => store.records.rollUpLate());
  const account = 'bench-0';
  const period = { accountId: account, fromMs: Math.floor(now / dayMs - days) * dayMs, toMs: now, stepMs: dayMs };
  await timed('overview of 90 days, first', () => store.usage.summary(period));
  await timed('overview of 90 days, again', () => store.usage.summary(period));
  const today = Math.floor(now / dayMs) * dayMs;
  await timed('tokens of today by route', () => store.holds.tokensBetween(today, now));
  for (const format of ['ndjson', 'csv']) {
    let bytes = 0;
    const ms = await timed(`export as ${format}`, async () => {
      for await (const chunk of store.records.export({ kind: 'generations', format })) bytes += chunk.length;
    });
    const rate = Math.round((rows / ms) * 1000);
    console.log(
      `  ${rate} rows/s, ${(bytes / 1e6).toFixed(0)} MB, ${Math.round(process.memoryUsage().rss / 1e6)} MB resident`,
    );
  }
  await timed('check', async () => console.log(`  ${(await store.records.check()).faults.length} faults`));
} finally {
  await store.close();
  await embedded.stop();
  rmSync(values.dir, { recursive: true, force: true });
}

async function timed(what, work) {
  const from = performance.now();
  await work();
  const ms = performance.now() - from;
  console.log(`${what}: ${ms.toFixed(1)} ms`);
  return ms;
}

/** Written by the server itself, in parts, as a person would write them: no rollups yet. */
async function fill() {
  const { default: pg } = await import('pg');
  const client = new pg.Client(embedded.connection);
  await client.connect();
  for (let i = 0; i < accounts; i++) {
    const person = { email: `bench-${i}@example.com`, name: null, billingCountry: null, createdAt: now - days * dayMs };
    await store.accounts.create({ id: `bench-${i}`, ...person });
  }
  const part = 200_000;
  for (let from = 0; from < rows; from += part) {
    await client.query(
      `insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, served_model,
         provider, locode, streamed, status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed,
         latency_ms, first_byte_ms, providers_attempted, fallback_occurred, finish_reason, stream_end, usage_source, attempts)
       select lodestone.generation_ids_from(at) || lpad(i::text, 16, '0'), 'req-' || i, 'bench-' || (i % ${accounts}), 'key-' || (i % 3),
         'key', at, 'auto/meta/llama-' || (i % 4), case when i % 25 <> 0 then 'acme/meta/llama-' || (i % 4) || '/defra' end,
         case when i % 25 <> 0 then 'acme' end, case when i % 25 <> 0 then 'defra' end, true, case when i % 25 <> 0 then 200 else 503 end,
         i % 900, i % 400, 0, 0, case when i % 25 <> 0 then 1000 + i % 5000 else 0 end, i % 25 <> 0, 200 + i % 9000, 50 + i % 900,
         '["acme"]', false, 'stop', 'complete', 'provider',
         '[{"provider":"acme","locode":"defra","outcome":"served","status":200,"first_byte_ms":120.25,"error":null}]'
       from (select i, $1::bigint + i * $2::bigint / $3::bigint as at from generate_series($4::bigint, $5::bigint) i) s`,
      [now - days * dayMs, days * dayMs, rows, from, Math.min(from + part, rows) - 1],
    );
  }
  // The rows were written without charges; the balances follow them.
  await client.query(`update lodestone.accounts a set usage_pico = g.sum, balance_pico = -g.sum from (
    select account_id, sum(cost_pico) as sum from lodestone.generations group by 1) g where g.account_id = a.id`);
  await client.query('vacuum analyze');
  await client.end();
}
