/** What a sealer does inside of its transaction. */
import type { PoolClient } from 'pg';
import type { ReceiptSource } from '../../proof/receipt.js';
import type { ReadTile, TilePlace } from '../../proof/tiles.js';
import type { BadGeneration, LogState, SealedBatch, Sealing, Taken } from '../log-types.js';
import { markAuditSealed, waitingAudit } from './audit-store.js';
import { markSealed, queueBatch, waitingBatches } from './log-batches.js';
import { type GenerationRow, receiptColumns, sourceOf } from './receipt-source.js';

/** Keeps what it has read, because a path needs few tiles several times. */
export function tileReader(client: PoolClient): ReadTile {
  const known = new Map<string, Buffer>();
  return async ({ level, index }) => {
    const key = `${level}/${index}`;
    const found = known.get(key);
    if (found) return found;
    const { rows } = await client.query<{ hashes: Buffer }>(
      'select hashes from lodestone.log_tiles where level = $1 and tile = $2',
      [level, index],
    );
    const hashes = rows[0]?.hashes ?? Buffer.alloc(0);
    known.set(key, hashes);
    return hashes;
  };
}

export function sealingOf(client: PoolClient, state: LogState): Sealing {
  return {
    state,
    readTile: tileReader(client),
    readTiles: (places) => readTiles(client, places),
    waitingBatches: (limit) => waitingBatches(client, limit),
    waitingAudit: (limit) => waitingAudit(client, limit),
    queueBatch: (batch) => queueBatch(client, batch),
    take: (limit) => takeUnsealed(client, limit),
    async setAside(bad) {
      await client.query(
        `insert into lodestone.unsealed (id, account_id, set_aside) select * from unnest($1::text[], $2::text[], $3::text[])
         on conflict (id, account_id) do update set set_aside = excluded.set_aside`,
        [bad.map(({ id }) => id), bad.map(({ accountId }) => accountId), bad.map(({ reason }) => reason)],
      );
    },
    write: (batch) => writeSealed(client, state, batch),
    async begin({ origin, salt, checkpoint }) {
      await client.query('update lodestone.log_state set origin = $1, salt = $2, checkpoint = $3', [
        ...[origin, salt, checkpoint],
      ]);
    },
    async addKey(verifierKey, nowMs) {
      const { rows } = await client.query<{ at: number }>(
        `select greatest($1, max(from_at), max(to_at)) as at from lodestone.log_keys`,
        [new Date(nowMs).toISOString()],
      );
      const at = new Date(rows[0]!.at);
      await client.query('update lodestone.log_keys set to_at = $1 where to_at is null', [at]);
      await client.query('insert into lodestone.log_keys (verifier_key, from_at) values ($1, $2)', [verifierKey, at]);
    },
    async removeKey(verifierKey) {
      await client.query('delete from lodestone.log_keys where verifier_key = $1', [verifierKey]);
    },
  };
}

async function readTiles(client: PoolClient, places: readonly TilePlace[]): Promise<Buffer[]> {
  const { rows } = await client.query<{ hashes: Buffer | null }>({
    name: 'log-edge',
    text: `select t.hashes from unnest($1::smallint[], $2::bigint[]) with ordinality as p(level, tile, place)
      left join lodestone.log_tiles t on t.level = p.level and t.tile = p.tile order by p.place`,
    values: [places.map(({ level }) => level), places.map(({ index }) => index)],
  });
  return rows.map(({ hashes }) => hashes ?? Buffer.alloc(0));
}

async function takeUnsealed(client: PoolClient, limit: number): Promise<Taken> {
  const taken = await client.query<{ id: string; account_id: string }>(
    `delete from lodestone.unsealed where (id, account_id) in (
       select id, account_id from lodestone.unsealed where set_aside is null order by id desc, account_id desc limit $1) returning id, account_id`,
    [limit],
  );
  if (taken.rows.length === 0) return { count: 0, sources: [], bad: [] };
  const ids = taken.rows.map(({ id }) => id).sort();
  const { rows } = await client.query<GenerationRow>({
    name: 'log-take',
    text: `select ${receiptColumns}
       from unnest($1::text[], $2::text[]) as taken(id, account_id)
       join lodestone.generations g on g.account_id = taken.account_id and g.id = taken.id and g.id >= $3 and g.id <= $4
       where not exists (select 1 from lodestone.receipts r where r.id = taken.id and r.account_id = taken.account_id)`,
    values: [taken.rows.map(({ id }) => id), taken.rows.map(({ account_id }) => account_id), ids[0], ids.at(-1)],
  });
  const sources: ReceiptSource[] = [];
  const bad: BadGeneration[] = [];
  for (const row of rows) {
    try {
      sources.push(sourceOf(row));
    } catch (error) {
      bad.push({ id: row.id, accountId: row.accountId, reason: String(error) });
    }
  }
  sources.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { count: taken.rows.length, sources, bad };
}

/** The state is compared once more, although its row is locked: a log that forks cannot be repaired. */
async function writeSealed(client: PoolClient, state: LogState, batch: SealedBatch): Promise<void> {
  const { batches, entries, receipts, tiles } = batch;
  if (batches.length > 0) await markSealed(client, batches);
  if (entries.length > 0) await markAuditSealed(client, entries);
  if (receipts.length > 0) {
    await client.query({
      name: 'log-receipts',
      text: `insert into lodestone.receipts (id, account_id, leaf_index, receipt)
      select s.id, s.account_id, $4::bigint + s.place - 1, s.receipt
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as s(id, account_id, receipt, place)`,
      values: [
        receipts.map(({ id }) => id),
        receipts.map(({ accountId }) => accountId),
        receipts.map(({ receipt }) => receipt),
        batch.size - receipts.length,
      ],
    });
  }
  await client.query({
    name: 'log-tiles',
    text: `insert into lodestone.log_tiles (level, tile, hashes)
      select level, tile, decode(hashes, 'hex') from unnest($1::smallint[], $2::bigint[], $3::text[]) as t(level, tile, hashes)
      on conflict (level, tile) do update set hashes = excluded.hashes`,
    values: [
      tiles.map(({ level }) => level),
      tiles.map(({ index }) => index),
      tiles.map(({ hashes }) => hashes.toString('hex')),
    ],
  });
  const done = await client.query(
    `update lodestone.log_state set size = $1, root = $2, checkpoint = $3, sealed_at = now() where size = $4 and root = $5`,
    [batch.size, batch.root, batch.checkpoint, state.size, state.root],
  );
  if (done.rowCount !== 1) throw new Error('The log changed while it was sealed.');
}
