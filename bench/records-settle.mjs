/**
 * What rollups add to a settlement, for bench/records.mjs: the CPU of this process and of PostgreSQL for each row, on two stores by turns.
 * One of them does not keep rollups; what this process still does for it is measured apart and taken off.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { generationId, requestId } from '../dist/base/ids.js';
import { splitLine } from '../dist/domain/settled-line.js';
import { settlementRow } from '../dist/domain/settlement-row.js';
import { startEmbedded } from '../dist/storage/embedded/embedded.js';
import { openStore } from '../dist/storage/open-store.js';
import { UsageSums } from '../dist/storage/records/usage-batch.js';
import { cpuOfTree, serverPid } from './records-cpu.mjs';

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const accounts = 4;
const batchRows = 1_000;
const batches = 10;
const rounds = 6;

export async function measureSettlement({ log }) {
  const sides = { with: await openSide(true), without: await openSide(false) };
  let summing = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 ? [sides.with, sides.without] : [sides.without, sides.with]) {
        const all = Array.from({ length: batches }, () => Array.from({ length: batchRows }, (_, i) => rowOf(i)));
        summing += cpuOf(() => all.forEach(sum)) / 2;
        await settleAll(side, all, round > 0);
      }
    }
  } finally {
    for (const side of Object.values(sides)) await side.close();
  }
  const perRow = (us) => us / ((rounds - 1) * batches * batchRows);
  const [plain, rolled] = [perRow(sides.without.us) - summing / (rounds * batches * batchRows), perRow(sides.with.us)];
  log(
    `settlement in batches of ${batchRows}: ${rolled.toFixed(1)} µs of CPU a row with rollups, ${plain.toFixed(1)} without: ${(rolled / plain).toFixed(2)} times`,
  );
}

async function settleAll(side, all, counts) {
  const [own, server] = [process.cpuUsage(), cpuOfTree(side.pid)];
  for (const rows of all) await side.store.ledger.settle(rows);
  const { user, system } = process.cpuUsage(own);
  if (counts) side.us += user + system + cpuOfTree(side.pid) - server;
}

function sum(rows) {
  const sums = new UsageSums();
  for (const row of rows) sums.add(splitLine(row));
  return sums.text();
}

function cpuOf(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function openSide(keepsRollups) {
  const dir = mkdtempSync(join(tmpdir(), 'records-settle-'));
  const embedded = await startEmbedded({ dataDir: dir, logger, connectionsMax: 20 });
  const store = await openStore({ connection: embedded.connection, logger });
  for (let i = 0; i < accounts; i++) {
    const person = { email: `a${i}@example.com`, name: null, billingCountry: null, createdAt: 0 };
    await store.accounts.create({ id: `account-${i}`, ...person });
  }
  if (!keepsRollups) {
    const client = new pg.Client(embedded.connection);
    await client.connect();
    await client.query(
      'create or replace function lodestone.add_usage(added json) returns void language plpgsql as $$ begin end $$',
    );
    await client.end();
  }
  const close = async () => {
    await store.close();
    await embedded.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { store, close, pid: serverPid(dir), us: 0 };
}

function rowOf(i) {
  const at = Date.now();
  const ok = i % 20 !== 0;
  return settlementRow({
    ...{ id: generationId(at), requestId: requestId(at), accountId: `account-${i % accounts}`, keyId: `key-${i % 3}` },
    ...{ keyName: 'production', createdAt: at, requestedModel: 'auto/meta/llama-3.3-70b', streamed: true, billed: ok },
    ...{
      servedModel: ok ? 'acme/meta/llama-3.3-70b/defra' : null,
      provider: ok ? 'acme' : null,
      locode: ok ? 'defra' : null,
    },
    ...{
      status: ok ? 200 : 503,
      promptTokens: 12 + (i % 500),
      completionTokens: 34 + (i % 300),
      cachedTokens: 5,
      reasoningTokens: 6,
    },
    ...{ costPico: ok ? 1_000_007n : 0n, latencyMs: 300 + ((i * 37) % 5000), firstByteMs: 50 + ((i * 13) % 900) },
    ...{
      providersAttempted: ['acme'],
      fallbackOccurred: false,
      finishReason: 'stop',
      streamEnd: 'complete',
      usageSource: 'provider',
    },
    ...{ errorCode: ok ? null : 'provider_error', bill: null, requestPolicy: null, door: 'chat', proof: null },
    attempts: [
      { provider: 'acme', locode: 'defra', outcome: 'served', status: 200, first_byte_ms: 120.25, error: null },
    ],
  });
}
