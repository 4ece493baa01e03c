/** Reads and writes the log of receipts. Only the holder of the lock writes, and only on the state that it has read. */
import type { PoolClient } from 'pg';
import type { ReceiptSource } from '../../proof/receipt.js';
import { inclusionPath, type ReadTile } from '../../proof/tiles.js';
import { readBill } from '../../wire/cost.js';
import type { Database } from '../database.js';
import type { LogKey, LogState, LogStore, SealedBatch, SealedLeaf, Sealing } from '../log-types.js';

/** An arbitrary number that only sealers lock on. */
const lockNumber = 7_316_402_290;
/** The server ends the transaction of a sealer that stands still, so that another one can go on. */
const idleMs = 5_000;

const sliceMs = 6 * 3_600_000;
const sliceTimeoutMs = 120_000;

interface StateRow {
  origin: string | null;
  salt: Buffer | null;
  size: string;
  root: Buffer;
  checkpoint: string | null;
  keys: { verifier_key: string; from_ms: number; to_ms: number | null }[] | null;
}

const stateColumns = `s.origin, s.salt, s.size, s.root, s.checkpoint, (
  select json_agg(json_build_object('verifier_key', k.verifier_key, 'from_ms', floor(extract(epoch from k.from_at) * 1000),
    'to_ms', floor(extract(epoch from k.to_at) * 1000)) order by k.from_at, k.to_at nulls last) from lodestone.log_keys k) as keys`;
const selectState = `select ${stateColumns} from lodestone.log_state s`;

function stateOf({ origin, salt, size, root, checkpoint, keys }: StateRow): LogState {
  const list = (keys ?? []).map(
    ({ verifier_key, from_ms, to_ms }): LogKey => ({ verifierKey: verifier_key, fromMs: from_ms, toMs: to_ms }),
  );
  return { origin, salt, size: Number(size), root, checkpoint, keys: list };
}

export function logStore(database: Database): LogStore {
  const read: LogStore['read'] = (work) =>
    database.session(async (client) => {
      await client.query('begin isolation level repeatable read read only');
      const result = await work(await readState(client), tileReader(client));
      await client.query('commit');
      return result;
    });
  return {
    read,

    async status() {
      const [row] = await database.statement<StateRow & { oldest: Date | null }>(
        'log-status',
        `select ${stateColumns}, (select u.queued_at from lodestone.unsealed u order by u.id, u.account_id limit 1) as oldest
         from lodestone.log_state s`,
        [],
      );
      return { ...stateOf(row!), oldestUnsealedMs: row!.oldest?.getTime() ?? null };
    },

    seal: (work) =>
      database.transaction(async (_db, client) => {
        await client.query(`set local idle_in_transaction_session_timeout = ${idleMs}`);
        const lock = await client.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
          lockNumber,
        ]);
        if (!lock.rows[0]?.mine) return null;
        return work(sealingOf(client, await readState(client, 'for update of s')));
      }),

    async setActive(active) {
      // A time without the queue has left generations out of it.
      await database.statement(
        'log-active',
        `update lodestone.log_state set active = $1,
           old_before_ms = case when $1 then (extract(epoch from now()) * 1000 + ${sliceMs})::bigint else old_before_ms end
         where active <> $1`,
        [active],
      );
    },

    queueOld: (nowMs) => database.transaction((_db, client) => queueOld(client, nowMs)),

    async tile({ level, index }) {
      const [row] = await database.statement<{ hashes: Buffer }>(
        'log-tile',
        'select hashes from lodestone.log_tiles where level = $1 and tile = $2',
        [level, index],
      );
      return row?.hashes ?? null;
    },

    leaf: (id, accountId) =>
      database.session(async (client) => {
        await client.query('begin isolation level repeatable read read only');
        const leaf = await findLeaf(client, id, accountId);
        await client.query('commit');
        return leaf;
      }),
  };
}

async function readState(client: PoolClient, lock = ''): Promise<LogState> {
  const { rows } = await client.query<StateRow>(`${selectState} ${lock}`);
  return stateOf(rows[0]!);
}

/** Keeps what it has read, because a path needs few tiles several times. */
function tileReader(client: PoolClient): ReadTile {
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

async function findLeaf(
  client: PoolClient,
  id: string,
  accountId: string | null,
): Promise<SealedLeaf | 'unsealed' | null> {
  const owner = accountId === null ? '' : 'and account_id = $2';
  const values = accountId === null ? [id] : [id, accountId];
  const { rows } = await client.query<{ receipt: string; leaf_index: string }>(
    `select receipt, leaf_index from lodestone.receipts where id = $1 ${owner} limit 1`,
    values,
  );
  const row = rows[0];
  if (!row) {
    const waiting = await client.query(`select 1 from lodestone.unsealed where id = $1 ${owner}`, values);
    return waiting.rowCount === 0 ? null : 'unsealed';
  }
  const state = await readState(client);
  const leafIndex = Number(row.leaf_index);
  const path = await inclusionPath(tileReader(client), leafIndex, state.size);
  return { receipt: row.receipt, leafIndex, state, inclusionPath: path };
}

function sealingOf(client: PoolClient, state: LogState): Sealing {
  return {
    state,
    readTile: tileReader(client),
    take: (limit) => takeUnsealed(client, limit),
    write: (batch) => writeSealed(client, state, batch),
    async begin({ origin, salt, checkpoint }) {
      await client.query('update lodestone.log_state set origin = $1, salt = $2, checkpoint = $3', [
        ...[origin, salt, checkpoint],
      ]);
    },
    async addKey(verifierKey, nowMs) {
      // Nothing that an earlier key of an empty log has signed is left.
      if (state.size === 0) await client.query('delete from lodestone.log_keys');
      const now = new Date(nowMs).toISOString();
      await client.query('update lodestone.log_keys set to_at = $1 where to_at is null', [now]);
      await client.query('insert into lodestone.log_keys (verifier_key, from_at) values ($1, $2)', [verifierKey, now]);
    },
  };
}

interface GenerationRow {
  id: string;
  account_id: string;
  created_ms: string;
  requested_model: string;
  served_model: string | null;
  provider: string | null;
  locode: string | null;
  attempts: string;
  billed: boolean;
  bill: string | null;
  cost_pico: string;
  prompt_tokens: string;
  completion_tokens: string;
  cached_tokens: string;
  reasoning_tokens: string;
  stream_end: ReceiptSource['streamEnd'];
  proof: string | null;
}

async function takeUnsealed(client: PoolClient, limit: number): Promise<ReceiptSource[]> {
  const taken = await client.query<{ id: string; account_id: string }>(
    `delete from lodestone.unsealed where (id, account_id) in (
       select id, account_id from lodestone.unsealed order by id, account_id limit $1) returning id, account_id`,
    [limit],
  );
  if (taken.rows.length === 0) return [];
  const ids = taken.rows.map(({ id }) => id).sort();
  const { rows } = await client.query<GenerationRow>({
    name: 'log-take',
    text: `select g.id, g.account_id, g.created_ms, g.requested_model, g.served_model, g.provider, g.locode, g.attempts, g.billed,
         g.bill, g.cost_pico, g.prompt_tokens, g.completion_tokens, g.cached_tokens, g.reasoning_tokens, g.stream_end, g.proof
       from unnest($1::text[], $2::text[]) as taken(id, account_id)
       join lodestone.generations g on g.account_id = taken.account_id and g.id = taken.id and g.id >= $3 and g.id <= $4
       where not exists (select 1 from lodestone.receipts r where r.id = taken.id and r.account_id = taken.account_id)`,
    values: [taken.rows.map(({ id }) => id), taken.rows.map(({ account_id }) => account_id), ids[0], ids.at(-1)],
  });
  return rows.map(sourceOf).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function sourceOf(row: GenerationRow): ReceiptSource {
  return {
    id: row.id,
    accountId: row.account_id,
    createdAt: Number(row.created_ms),
    requestedModel: row.requested_model,
    servedModel: row.served_model,
    provider: row.provider,
    locode: row.locode,
    attempts: JSON.parse(row.attempts) as ReceiptSource['attempts'],
    billed: row.billed,
    bill: row.bill === null ? null : readBill(row.bill),
    costPico: BigInt(row.cost_pico),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    cachedTokens: Number(row.cached_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    streamEnd: row.stream_end,
    proof: row.proof,
  };
}

/** The state is compared once more, although its row is locked: a log that forks cannot be repaired. */
async function writeSealed(client: PoolClient, state: LogState, batch: SealedBatch): Promise<void> {
  const { receipts, tiles } = batch;
  await client.query({
    name: 'log-receipts',
    text: `insert into lodestone.receipts (id, account_id, leaf_index, receipt)
      select s.id, s.account_id, $4::bigint + s.place - 1, s.receipt
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as s(id, account_id, receipt, place)`,
    values: [
      receipts.map(({ id }) => id),
      receipts.map(({ accountId }) => accountId),
      receipts.map(({ receipt }) => receipt),
      state.size,
    ],
  });
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

/** From the newest to the oldest. No generation is older than the oldest account. */
async function queueOld(client: PoolClient, nowMs: number): Promise<boolean> {
  const state = await client.query<{ before: string | null; oldest: string | null }>(
    `select old_before_ms as before,
       (select floor(extract(epoch from min(created_at)) * 1000) from lodestone.accounts) as oldest
     from lodestone.log_state for update`,
  );
  const { before, oldest } = state.rows[0]!;
  if (before === null) return false;
  const from = Math.floor((Math.min(Number(before), nowMs + sliceMs) - 1) / sliceMs) * sliceMs;
  const isLast = oldest === null || from <= Number(oldest) - sliceMs;
  const query = {
    text: `insert into lodestone.unsealed (id, account_id) select g.id, g.account_id from lodestone.generations g
      where g.created_ms >= $1 and g.created_ms < $2
        and not exists (select 1 from lodestone.receipts r where r.id = g.id and r.account_id = g.account_id)
      on conflict do nothing`,
    values: [isLast ? Number.MIN_SAFE_INTEGER : from, before],
    query_timeout: sliceTimeoutMs,
  };
  await client.query(query);
  await client.query('update lodestone.log_state set old_before_ms = $1', [isLast ? null : from]);
  return !isLast;
}
