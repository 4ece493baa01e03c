/** Reads and writes the log of receipts. Only the holder of the lock writes, and only on the state that it has read. */
import type { PoolClient } from 'pg';
import { inclusionPath, type ReadTile } from '../../proof/tiles.js';
import type { Database } from '../database.js';
import { lockNumbers } from '../lock-numbers.js';
import type { LeafAnswer, LogState, LogStatus, LogStore, SealedLeaf } from '../log-types.js';
import { unsealedEntries } from './audit-store.js';
import { batchTimeMs, type FoundLeaf, findBatched, placeInLog } from './log-batches.js';
import { oldQueue } from './log-old.js';
import { sealingOf, tileReader } from './log-sealing.js';

/** The server ends the transaction of a sealer that stands still, so that another one can go on. */
const idleMs = 5_000;
/** A settlement that began before the queue was switched on has ended by then. */
const againSeconds = 10;
/** Later than every generation. */
const endOfTime = Number.MAX_SAFE_INTEGER;

const stateColumns = `s.origin, s.salt, s.size, s.root, s.checkpoint, (
  select coalesce(json_agg(json_build_object('verifierKey', k.verifier_key, 'fromMs', floor(extract(epoch from k.from_at) * 1000),
    'toMs', floor(extract(epoch from k.to_at) * 1000)) order by (k.to_at is null), k.from_at), '[]') from lodestone.log_keys k) as keys`;
const selectState = `select ${stateColumns} from lodestone.log_state s`;

interface StatusRow extends Omit<LogStatus, 'oldestUnsealedMs'> {
  oldest: number | null;
  batch: string | null;
  entry: number | null;
}

const selectStatus = `select ${stateColumns}, s.active, (s.old_before_ms is not null or s.again_at is not null) as "oldLeft",
    (select u.queued_at from lodestone.unsealed u where u.set_aside is null order by u.id, u.account_id limit 1) as oldest,
    (select b.batch::text from lodestone.log_batches b where b.first_leaf is null order by b.batch limit 1) as batch,
    (select a.created_at from ${unsealedEntries} order by a.seq limit 1) as entry,
    exists (select 1 from lodestone.unsealed u where u.set_aside is not null) as "setAside"
  from lodestone.log_state s`;

/** `history` answers those who look for a proof, so that they take no connection of requests and settlements. */
export function logStore(database: Database, history: Database, join: LogStore['join']): LogStore {
  const read: LogStore['read'] = (work) =>
    database.session(async (client) => {
      await client.query('begin isolation level repeatable read read only');
      const result = await work(await readState(client), tileReader(client));
      await client.query('commit');
      return result;
    });
  return {
    read,
    join,

    async state() {
      return (await database.one<LogState>('log-state', selectState, []))!;
    },

    async status() {
      const { oldest, batch, entry, ...status } = (await database.one<StatusRow>('log-status', selectStatus, []))!;
      const times = [oldest, entry, batch === null ? null : batchTimeMs(batch)].filter((time) => time !== null);
      return { ...status, oldestUnsealedMs: times.length === 0 ? null : Math.min(...times) };
    },

    seal: (work) =>
      database.session(async (client) => {
        const [mine, state] = await beginSealing(client);
        if (!mine || state === undefined) {
          await client.query('rollback');
          return null;
        }
        const result = await work(sealingOf(client, state));
        await client.query('commit');
        return result;
      }),

    async setActive(active) {
      // A time without the queue has left generations out of it.
      await database.statement(
        'log-active',
        `update lodestone.log_state set active = $1,
           old_before_ms = case when $1 then ${endOfTime} else old_before_ms end,
           old_from_ms = case when $1 then null else old_from_ms end,
           again_at = case when $1 then now() + interval '${againSeconds} seconds' else again_at end
         where active <> $1`,
        [active],
      );
    },

    async retrySetAside() {
      await database.statement(
        'log-retry',
        'update lodestone.unsealed set set_aside = null where set_aside is not null',
        [],
      );
    },

    queueOld: oldQueue(database),

    tile: ({ level, index }) =>
      database.value('log-tile', 'select hashes from lodestone.log_tiles where level = $1 and tile = $2', [
        level,
        index,
      ]),

    leaf: (id, accountId) =>
      history.session(async (client) => {
        await client.query('begin isolation level repeatable read read only');
        const leaf = await findLeaf(client, id, accountId);
        await client.query('commit');
        return leaf;
      }),
  };
}

async function readState(client: PoolClient): Promise<LogState> {
  return (await client.query<LogState>(selectState)).rows[0]!;
}

/** One round trip. Each of its statements sees what was committed before it, so the state is the one under the lock. */
async function beginSealing(client: PoolClient): Promise<[mine: boolean, state: LogState | undefined]> {
  const results: unknown = await client.query(
    `begin; set local idle_in_transaction_session_timeout = ${idleMs};
     select pg_try_advisory_xact_lock(${lockNumbers.sealing}) as mine; ${selectState} for update of s skip locked`,
  );
  const [, , lock, state] = results as { rows: unknown[] }[];
  return [(lock!.rows[0] as { mine: boolean }).mine, state!.rows[0] as LogState | undefined];
}

async function findLeaf(client: PoolClient, id: string, accountId: string | null): Promise<LeafAnswer> {
  const readTile = tileReader(client);
  const found = (await findQueued(client, id, accountId)) ?? (accountId && (await findBatched(client, id, accountId)));
  if (!found || found === 'unsealed') return found || null;
  const state = await readState(client);
  if ('receipt' in found) return sealedLeaf(found, state, readTile);
  const placed = await placeInLog(found, state, readTile);
  return placed === null ? 'altered' : sealedLeaf(placed, state, readTile);
}

async function sealedLeaf({ receipt, leafIndex }: FoundLeaf, state: LogState, readTile: ReadTile): Promise<SealedLeaf> {
  return { receipt, leafIndex, state, inclusionPath: await inclusionPath(readTile, leafIndex, state.size) };
}

/** A generation whose receipt is stored, or that waits in the queue. */
async function findQueued(
  client: PoolClient,
  id: string,
  accountId: string | null,
): Promise<FoundLeaf | 'unsealed' | null> {
  const owner = accountId === null ? '' : 'and account_id = $2';
  const values = accountId === null ? [id] : [id, accountId];
  const { rows } = await client.query<FoundLeaf>(
    `select receipt, leaf_index as "leafIndex" from lodestone.receipts where id = $1 ${owner} limit 1`,
    values,
  );
  if (rows[0]) return rows[0];
  const waiting = await client.query(`select 1 from lodestone.unsealed where id = $1 ${owner}`, values);
  return waiting.rowCount === 0 ? null : 'unsealed';
}
