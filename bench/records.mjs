/**
 * Measures the stored records with many rows: the sums behind the dashboard, exports, the check, a start, and what rollups add to a
 * settlement. It fills an embedded store in a folder of its own. After `npm run build`:
 *
 *   node bench/records.mjs --rows 2000000 --dir /tmp/records-bench
 *
 * `--keep` leaves the store there, and a store that is there is measured as it is. `--only overview,export,check,start,settle` chooses,
 * `--formats ndjson,csv,parquet` what is exported, and `--account bench-0` of whom.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../dist/storage/embedded/embedded.js';
import { openStore } from '../dist/storage/open-store.js';
import { cpuOfTree, serverPid } from './records-cpu.mjs';
import { fill, spread } from './records-fill.mjs';
import { measureSettlement } from './records-settle.mjs';
import { measureStart } from './records-start.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    dir: { type: 'string', default: '/tmp/records-bench' },
    keep: { type: 'boolean', default: false },
    only: { type: 'string', default: 'overview,export,check,start,settle' },
    formats: { type: 'string', default: 'ndjson,csv,parquet' },
    account: { type: 'string' },
  },
});
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const parts = new Set(values.only.split(','));
const dayMs = 86_400_000;
const days = 90;
const now = Date.now();
const log = (line) => console.log(line);

const isFilled = existsSync(join(values.dir, 'postgres'));
mkdirSync(values.dir, { recursive: true });
log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.versions.node}`);
try {
  await withStore(values.dir, measure);
  // The log comes second: with it, the gateway begins to make receipts for the rows.
  if (parts.has('start'))
    for (const hasLog of [false, true]) await measureStart({ filledDir: values.dir, log, hasLog });
  if (parts.has('settle')) await measureSettlement({ log });
} finally {
  if (!values.keep) rmSync(values.dir, { recursive: true, force: true });
}

async function withStore(dataDir, work) {
  const embedded = await startEmbedded({ dataDir, logger, connectionsMax: 20 });
  const store = await openStore({ connection: embedded.connection, logger });
  try {
    await work(store, embedded.connection);
  } finally {
    await store.close();
    await embedded.stop();
  }
}

async function measure(store, connection) {
  if (!isFilled) {
    const rows = Number(values.rows);
    await timed('fill', () => fill({ connection, store, rows, days, now, log }));
  }
  const count = await rowsOf(store);
  log(`${count} generations of ${spread.accounts} accounts over ${days} days, 120 series for each account`);
  if (parts.has('overview')) await measureOverview(store);
  if (parts.has('export')) for (const format of values.formats.split(',')) await measureExport(store, format);
  if (parts.has('check'))
    await timed('storage check', async () => log(`  ${(await store.records.check()).faults.length} faults`));
}

async function rowsOf(store, accountId = null) {
  const period = { fromMs: 0, toMs: now + dayMs, interval: 'day', groupBy: null };
  return (await store.usage.activity({ accountId, ...period })).total.requests;
}

/** What the pages ask for: 90 days that end with today, and the 90 days before for comparison. */
async function measureOverview({ usage, holds }) {
  const toMs = (Math.floor(now / dayMs) + 1) * dayMs;
  const period = { accountId: 'bench-0', fromMs: toMs - days * dayMs, toMs, stepMs: dayMs };
  const groups = ['key', 'model', 'provider', 'locode', 'status'];
  const before = { ...period, fromMs: period.fromMs - days * dayMs, toMs: now - days * dayMs, stepMs: days * dayMs };
  const exact = { accountId: 'bench-0', fromMs: now - days * dayMs, toMs: now, interval: 'day', groupBy: 'model' };
  const today = Math.floor(now / dayMs) * dayMs;
  await repeated('overview of 90 days', () => usage.summary(period));
  await repeated('the 90 days before', () => usage.summary(before));
  await repeated('report of 90 days in five groups', () => usage.report({ ...period, groups, filter: {} }));
  await repeated('activity of 90 days to the millisecond', () => usage.activity(exact));
  await repeated('report of all accounts', () => usage.report({ ...period, accountId: null, groups, filter: {} }));
  await repeated('tokens of today by route, for quotas', () => holds.tokensBetween(today, now));
}

async function measureExport(store, format) {
  const { account: accountId } = values;
  const rows = await rowsOf(store, accountId);
  let [bytes, most] = [0, 0];
  // Asking costs much more than the rows of one piece, so it is not done for each.
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 250);
  const [own, server, from] = [process.cpuUsage(), cpuOfTree(serverPid(values.dir)), performance.now()];
  let first;
  const ms = await timed(`export of ${rows} rows as ${format}`, async () => {
    for await (const chunk of await store.records.export({
      ...{ kind: 'generations', format, ...(accountId && { accountId }) },
    })) {
      first ??= performance.now() - from;
      bytes += chunk.length;
    }
  });
  clearInterval(watch);
  const { user, system } = process.cpuUsage(own);
  // The connection of the export has ended by then, and the server has its CPU.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const perRow = [user + system, cpuOfTree(serverPid(values.dir)) - server].map((us) => (us / rows).toFixed(1));
  log(
    `  ${Math.round((rows / ms) * 1000)} rows/s, ${(bytes / 1e6).toFixed(0)} MB, at most ${Math.round(most / 1e6)} MB resident, the first bytes after ${Math.round(first)} ms; ` +
      `CPU a row: ${perRow[0]} µs here, ${perRow[1]} µs in PostgreSQL`,
  );
}

async function timed(what, work) {
  const from = performance.now();
  await work();
  const ms = performance.now() - from;
  log(`${what}: ${ms.toFixed(0)} ms`);
  return ms;
}

/** The first one fills caches. The median, the fastest, which other programs have disturbed the least, and the mean of the CPU. */
async function repeated(what, work) {
  const times = [];
  let server = 0;
  for (let i = 0; i < 10; i++) {
    if (i === 1) server = cpuOfTree(serverPid(values.dir));
    const from = performance.now();
    await work();
    if (i > 0) times.push(performance.now() - from);
  }
  const cpuMs = (cpuOfTree(serverPid(values.dir)) - server) / 1000 / times.length;
  times.sort((a, b) => a - b);
  log(
    `${what}: median ${times[4].toFixed(0)} ms, fastest ${times[0].toFixed(0)} ms; ${cpuMs.toFixed(0)} ms of CPU in PostgreSQL`,
  );
}
