/** The leaves that settlements have added to the log, a batch for each. */
import { randomInt } from 'node:crypto';
import type { PoolClient } from 'pg';
import { leafHash } from '../../proof/merkle.js';
import { type ReceiptSource, receiptText, receiptVersion } from '../../proof/receipt.js';
import { hashesIn, type ReadTile, tileWidth } from '../../proof/tiles.js';
import type { LeafBatch, LogState, SealedBatch } from '../log-types.js';
import { type GenerationRow, receiptColumns, sourceOf } from './receipt-source.js';

/** Behind the milliseconds of a batch number. */
const randomBits = 20;

/** Ordered by time. Random low bits make two of one millisecond differ. */
export function newBatchNumber(nowMs: number): bigint {
  return (BigInt(nowMs) << BigInt(randomBits)) | BigInt(randomInt(2 ** randomBits));
}

/** The lowest number of a batch that was settled at that time or later. */
export function firstBatchFrom(ms: number): bigint {
  return BigInt(ms) << BigInt(randomBits);
}

export function batchTimeMs(batch: string): number {
  return Number(BigInt(batch) >> BigInt(randomBits));
}

export async function waitingBatches(client: PoolClient, limit: number): Promise<LeafBatch[]> {
  const { rows } = await client.query<LeafBatch>({
    name: 'log-waiting',
    text: 'select batch::text, origin, leaves from lodestone.log_batches where first_leaf is null order by log_batches.batch limit $1',
    values: [limit],
  });
  return rows;
}

export async function markSealed(client: PoolClient, batches: SealedBatch['batches']): Promise<void> {
  const done = await client.query({
    name: 'log-sealed',
    text: `update lodestone.log_batches b set first_leaf = s.first_leaf, leaves = null
      from unnest($1::bigint[], $2::bigint[]) as s(batch, first_leaf) where b.batch = s.batch and b.first_leaf is null`,
    values: [batches.map(({ batch }) => batch), batches.map(({ firstLeaf }) => firstLeaf)],
  });
  if (done.rowCount !== batches.length) throw new Error('A batch of leaves was sealed twice.');
}

/** Reads all generations, so it is only for what hardly ever happens. */
export async function queueBatch(client: PoolClient, batch: string): Promise<void> {
  await client.query(
    `insert into lodestone.unsealed (id, account_id) select g.id, g.account_id from lodestone.generations g where g.log_batch = $1
     on conflict do nothing`,
    [batch],
  );
  await client.query('delete from lodestone.log_batches where batch = $1', [batch]);
}

export interface FoundLeaf {
  readonly receipt: string;
  readonly leafIndex: number;
}

/** A generation whose leaf is one of a sealed batch. */
interface BatchedGeneration {
  readonly source: ReceiptSource;
  readonly version: number;
  readonly firstLeaf: number;
  readonly leafCount: number;
}

interface BatchedRow extends GenerationRow {
  /** null where the generation came with no batch. */
  version: number | null;
  leafCount: number;
  /** null where the batch is not sealed. */
  firstLeaf: number | null;
}

export async function findBatched(
  client: PoolClient,
  id: string,
  accountId: string,
): Promise<BatchedGeneration | 'unsealed' | null> {
  const { rows } = await client.query<BatchedRow>(
    `select ${receiptColumns}, b.version, b.leaf_count as "leafCount", b.first_leaf as "firstLeaf" from lodestone.generations g
     left join lodestone.log_batches b on b.batch = g.log_batch where g.account_id = $1 and g.id = $2`,
    [accountId, id],
  );
  const row = rows[0];
  if (!row || row.version === null) return null;
  const { version, leafCount, firstLeaf, ...generation } = row;
  return firstLeaf === null ? 'unsealed' : { source: sourceOf(generation), version, leafCount, firstLeaf };
}

/** Makes the receipt again and finds its leaf; null where the batch has no such leaf. */
export async function placeInLog(
  { source, version, firstLeaf, leafCount }: BatchedGeneration,
  { origin, salt }: LogState,
  readTile: ReadTile,
): Promise<FoundLeaf | null> {
  if (origin === null || salt === null || version > receiptVersion) return null;
  const receipt = receiptText(source, { origin, salt }, version);
  const leafIndex = await placeOf(readTile, leafHash(receipt), firstLeaf, firstLeaf + leafCount);
  return leafIndex === null ? null : { receipt, leafIndex };
}

async function placeOf(readTile: ReadTile, leaf: Buffer, from: number, to: number): Promise<number | null> {
  for (let index = Math.floor(from / tileWidth); index * tileWidth < to; index++) {
    const hashes = hashesIn(await readTile({ level: 0, index }));
    const at = hashes.findIndex((hash, i) => {
      const place = index * tileWidth + i;
      return place >= from && place < to && hash.equals(leaf);
    });
    if (at >= 0) return index * tileWidth + at;
  }
  return null;
}
