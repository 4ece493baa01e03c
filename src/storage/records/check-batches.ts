/** Makes the receipts of all generations again whose leaves came with their settlement, and looks for them in the log. */
import type { PoolClient } from 'pg';
import { leafHash } from '../../proof/merkle.js';
import { type LogIdentity, receiptText } from '../../proof/receipt.js';
import { hashesIn, tileWidth } from '../../proof/tiles.js';
import type { StorageFault } from '../store.js';
import { type GenerationRow, receiptColumns, sourceOf } from '../stores/receipt-source.js';

/** Read from a cursor, because a store may have any number of them. */
const rowsAtOnce = 2_000;

interface BatchedRow extends GenerationRow {
  first_leaf: string;
  leaf_count: number;
}

/** Inside of the transaction that the other checks are in. */
export async function batchFaults(client: PoolClient, most: number): Promise<StorageFault[]> {
  const { rows: states } = await client.query<LogIdentity>('select origin, salt from lodestone.log_state');
  const log = states[0]!;
  const faults: StorageFault[] = [];
  await client.query(`declare batched no scroll cursor for
    select ${receiptColumns}, b.first_leaf, b.leaf_count from lodestone.log_batches b
    join lodestone.generations g on g.log_batch = b.batch
    where b.first_leaf is not null
      and not exists (select 1 from lodestone.receipts r where r.id = g.id and r.account_id = g.account_id)
      and not exists (select 1 from lodestone.unsealed u where u.id = g.id and u.account_id = g.account_id)
    order by b.first_leaf`);
  let known = { from: -1, leaves: new Set<string>() };
  while (faults.length < most) {
    const { rows } = await client.query<BatchedRow>(`fetch ${rowsAtOnce} from batched`);
    if (rows.length === 0) break;
    for (const row of rows) {
      const from = Number(row.first_leaf);
      if (from !== known.from) known = { from, leaves: await leavesBetween(client, from, from + row.leaf_count) };
      const leaf = leafText(row, log);
      if (known.leaves.has(leaf)) continue;
      const place = `among ${row.leaf_count} leaves from ${from} on`;
      faults.push({ what: 'generation and its leaf in the log', where: row.id, expected: place, found: leaf });
    }
  }
  await client.query('close batched');
  return faults.slice(0, most);
}

function leafText(row: GenerationRow, log: LogIdentity): string {
  try {
    return leafHash(receiptText(sourceOf(row), log)).toString('base64');
  } catch (error) {
    return String(error);
  }
}

async function leavesBetween(client: PoolClient, from: number, to: number): Promise<Set<string>> {
  const { rows } = await client.query<{ tile: string; hashes: Buffer }>(
    'select tile, hashes from lodestone.log_tiles where level = 0 and tile >= $1 and tile <= $2',
    [Math.floor(from / tileWidth), Math.floor((to - 1) / tileWidth)],
  );
  const leaves = new Set<string>();
  for (const { tile, hashes } of rows) {
    for (const [i, hash] of hashesIn(hashes).entries()) {
      const place = Number(tile) * tileWidth + i;
      if (place >= from && place < to) leaves.add(hash.toString('base64'));
    }
  }
  return leaves;
}
