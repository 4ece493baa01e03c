/**
 * What settling costs: the CPU of the settler and of PostgreSQL for each record of a backlog, until all are in the store and sealed, and how
 * many it settles in a second. After `npm run build`:
 *
 *   node bench/backlog.mjs [--records 200000] [--rounds 3] [--roots .,/path/of/another/checkout]
 *
 * Several checkouts take turns, each on a store of its own, so that what else the machine does is the same for all.
 */
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbedded } from '../dist/storage/embedded/embedded.js';
import { writeBacklog } from './backlog-records.mjs';
import { cpuOfTree, serverPid } from './records-cpu.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const program = join(here, 'backlog-settler.mjs');
const logger = { debug() {}, info() {}, warn() {}, error: (fields, text) => console.error(text, fields) };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Settles `records` with the build of a checkout: microseconds a record of both processes, records a second, and the settler's memory. */
export async function measureBacklog({ root, records, accounts = 8 }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'backlog-'));
  const embedded = await startEmbedded({ dataDir, logger, connectionsMax: 20 });
  let child;
  const client = new pg.Client(embedded.connection);
  try {
    const config = join(dataDir, 'lodestone.yaml');
    writeFileSync(config, JSON.stringify({ storage: { data_dir: dataDir }, demo: false }));
    const execArgv = ['--max-semi-space-size=8', '--v8-pool-size=1', '--max-old-space-size=512'];
    child = fork(program, [resolve(root), config, JSON.stringify(embedded.connection)], { execArgv });
    await new Promise((started, failed) => {
      child.once('message', started);
      child.once('exit', (code) => failed(new Error(`The settler ended with ${code}.`)));
    });
    await client.connect();
    const one = async (text) => (await client.query(text)).rows[0];
    while ((await one('select origin from lodestone.log_state')).origin === null) await pause(50);
    for (let i = 0; i < accounts; i++)
      await client.query('insert into lodestone.accounts (id, email, created_at) values ($1, $2, now())', [
        `acct-${i}`,
        `a${i}@example.com`,
      ]);
    const made = join(dataDir, 'made');
    mkdirSync(made, { mode: 0o700 });
    writeBacklog(made, { records, accounts });
    const parts = { node: () => cpuOfTree(child.pid), postgres: () => cpuOfTree(serverPid(dataDir)) };
    const before = { node: parts.node(), postgres: parts.postgres() };
    const journal = join(dataDir, 'journal');
    const startedAt = performance.now();
    renameSync(made, journal);
    while (readdirSync(journal).some((name) => name.endsWith('.log'))) await pause(20);
    const settledMs = performance.now() - startedAt;
    while (Number((await one('select size from lodestone.log_state')).size) < records) await pause(20);
    const us = { node: parts.node() - before.node, postgres: parts.postgres() - before.postgres };
    const { memory } = await new Promise((answer) => {
      child.once('message', answer);
      child.send('memory');
    });
    const { count, spent } = await one(
      'select count(*) as count, (select sum(usage_pico) from lodestone.accounts) as spent from lodestone.generations',
    );
    return {
      ...{ node: us.node / records, postgres: us.postgres / records, perSecond: (records / settledMs) * 1_000 },
      ...{ peakMb: memory / 1024, count: Number(count), spent },
    };
  } finally {
    child?.removeAllListeners('exit');
    child?.kill('SIGKILL');
    await client.end().catch(() => {});
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      records: { type: 'string', default: '200000' },
      rounds: { type: 'string', default: '3' },
      roots: { type: 'string', default: join(here, '..') },
    },
  });
  const roots = values.roots.split(',');
  for (let round = 0; round < Number(values.rounds); round++)
    for (const root of round % 2 ? roots.toReversed() : roots) {
      const { node, postgres, perSecond, peakMb, count, spent } = await measureBacklog({
        root,
        records: Number(values.records),
      });
      const figures = `${(node + postgres).toFixed(1)} µs a record (node ${node.toFixed(1)}, PostgreSQL ${postgres.toFixed(1)})`;
      console.log(
        `${root}: ${figures}, ${Math.round(perSecond)} a second, settler's peak ${Math.round(peakMb)} MB, ${count} rows, ${spent} spent`,
      );
    }
}
