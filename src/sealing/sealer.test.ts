import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../tests/support/postgres.js';
import { type Logger, silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import { settlementRow } from '../domain/settlement-row.js';
import { verifyLog } from '../proof/check-log.js';
import { newSigner } from '../proof/note.js';
import { openStore } from '../storage/open-store.js';
import type { Store } from '../storage/store.js';
import { LogKeyFile } from './log-key.js';
import { PublishedCheckpoint } from './published-checkpoint.js';
import { rotateKey } from './rotate-key.js';
import { Sealer } from './sealer.js';

const origin = 'llm.example.com/log';
let folder: string;
let database: FreshDatabase;
let store: Store;
let client: pg.Client;
let told: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-sealer-'));
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger: silentLogger });
  client = new pg.Client({ ...database.connection });
  await client.connect();
  const person = { email: 'a@example.com', name: null, billingCountry: null, createdAt: 1 };
  await store.accounts.create({ id: 'account-1', ...person });
  told = [];
});
afterEach(async () => {
  await client.end();
  await store.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const logger = (): Logger => ({ ...silentLogger, error: (_: object, text: string) => void told.push(text) }) as Logger;

/** A process of a fleet; `own` is a machine with a data folder of its own. */
function sealer({ own = '', mayCreate = true, name = origin } = {}): Sealer {
  const keyFile = new LogKeyFile(join(folder, 'log-key'), mayCreate);
  const published = new PublishedCheckpoint(join(folder, `log-checkpoint${own}`));
  return new Sealer({ store: store.log, origin: name, keyFile, published, clock: systemClock, logger: logger() });
}

async function settle(count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => aGeneration({ createdAt: Date.now() }));
  await store.ledger.settle(rows.map(settlementRow));
  return rows.map(({ id }) => id);
}

const read = () =>
  verifyLog(
    {
      description: async () => {
        const { origin: of, keys } = await store.log.status();
        return { origin: of, keys: keys.map(({ verifierKey }) => ({ verifier_key: verifierKey })) };
      },
      checkpoint: async () => (await store.log.status()).checkpoint!,
      tile: async (place) => (await store.log.tile(place))!.subarray(0, place.width * 32),
    },
    null,
  );

async function expectWhole(size: number): Promise<void> {
  expect((await read()).faults).toEqual([]);
  expect((await store.log.status()).size).toBe(size);
  expect((await store.records.check()).faults).toEqual([]);
  const { rows } = await client.query(
    'select count(*) as n, count(distinct leaf_index) as places from lodestone.receipts',
  );
  expect(rows[0]).toEqual({ n: String(size), places: String(size) });
}

describe('the sealer', () => {
  it('begins an empty log with a key of its own, which only its user can read', async () => {
    expect(await sealer().round()).toBe(true);
    const { size, checkpoint, keys } = await store.log.status();
    expect(size).toBe(0);
    expect(checkpoint).toContain(`${origin}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n`);
    expect(keys).toHaveLength(1);
    expect(statSync(join(folder, 'log-key')).mode & 0o777).toBe(0o600);
  });

  it('takes each generation once, however many processes seal at once', async () => {
    const fleet = [sealer({ own: 'a' }), sealer({ own: 'b' }), sealer({ own: 'c' })];
    for (const each of fleet) await each.round();
    for (let round = 0; round < 6; round++) {
      await Promise.all([settle(70), ...fleet.map((each) => each.round())]);
    }
    while ((await store.log.status()).oldestUnsealedMs !== null) await fleet[1]!.round();
    await expectWhole(420);
    expect(told).toEqual([]);
  });

  it('goes on after another process has sealed, and after its own end', async () => {
    await settle(3);
    await sealer().round();
    await settle(300);
    await sealer({ own: 'b' }).round();
    await settle(2);
    await sealer().round();
    await expectWhole(305);
  });

  it('finds the generations of a time without the log', async () => {
    await store.log.setActive(false);
    await settle(5);
    const later = sealer();
    for (let round = 0; round < 8; round++) await later.round();
    await expectWhole(5);
  });

  it('leaves everything as it was where its transaction is cut off', async () => {
    const [id] = await settle(4);
    await sealer().round();
    await settle(4);
    await client.query(`create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'cut'; end $$;
      create trigger refuse before update on lodestone.log_state for each row execute function public.refuse()`);
    expect(await sealer().round()).toBe(false);
    await client.query('drop trigger refuse on lodestone.log_state');
    expect((await store.log.status()).size).toBe(4);
    await sealer().round();
    await expectWhole(8);
    expect(await store.log.leaf(id!, 'account-1')).toMatchObject({ leafIndex: expect.any(Number) });
  });

  it.each([
    ['the database was put back to an earlier state', 4, 'fewer receipts than were published'],
    ['the database was put back and went on', 9, 'not those that were published'],
  ])('stops where %s', async (_, size, text) => {
    await settle(4);
    await sealer().round();
    const dump = async (table: string) => (await client.query(`select * from lodestone.${table}`)).rows;
    const [state] = await dump('log_state');
    const tiles = await dump('log_tiles');
    await settle(3);
    await sealer().round();
    await client.query('update lodestone.log_state set size = $1, root = $2, checkpoint = $3', [
      ...[state.size, state.root, state.checkpoint],
    ]);
    await client.query('update lodestone.log_tiles set hashes = $1', [tiles[0].hashes]);
    await client.query('delete from lodestone.receipts where leaf_index >= 4');
    // A process of a machine that has not seen what was published would go on.
    if (size > 4) {
      await settle(size - 4);
      await sealer({ own: 'elsewhere' }).round();
    }
    await settle(1);
    const stopped = sealer();
    expect(await stopped.round()).toBe(false);
    expect(stopped.figures().fault).toBe(size > 4 ? 'forked' : 'store_behind');
    expect(told).toEqual([expect.stringContaining(text)]);
    expect((await store.log.status()).size).toBe(size);
  });

  it('makes no other key for one that is lost, and serves on', async () => {
    await settle(2);
    await sealer().round();
    rmSync(join(folder, 'log-key'));
    await settle(1);
    const stopped = sealer();
    expect(await stopped.round()).toBe(false);
    expect(stopped.figures()).toMatchObject({ fault: 'key_missing', size: 2 });
    expect((await store.log.status()).size).toBe(2);
  });

  it('makes none where the operator names a file', async () => {
    const stopped = sealer({ mayCreate: false });
    expect(await stopped.round()).toBe(false);
    expect(stopped.figures().fault).toBe('key_missing');
    writeFileSync(join(folder, 'log-key'), `${newSigner(origin).text}\n`);
    expect(await stopped.round()).toBe(true);
    expect(stopped.figures().fault).toBeNull();
  });

  it('does not seal with another key or under another origin, and says which it should be', async () => {
    await settle(2);
    await sealer().round();
    const own = readFileSync(join(folder, 'log-key'));
    writeFileSync(join(folder, 'log-key'), newSigner(origin).text);
    const other = sealer();
    await other.round();
    expect(other.figures().fault).toBe('key_other');
    writeFileSync(join(folder, 'log-key'), own);
    const moved = sealer({ name: 'other.example.com/log' });
    await moved.round();
    expect(moved.figures().fault).toBe('origin_other');
    expect(told[1]).toContain(`Set proof.origin to the origin of the log`);
    expect(told[1]).toContain(origin);
    await settle(1);
    await sealer().round();
    await expectWhole(3);
  });

  it('goes on with a new key while processes run, also where the change was cut off in the middle', async () => {
    const running = sealer();
    await settle(2);
    await running.round();
    const keyFile = new LogKeyFile(join(folder, 'log-key'), true);
    const first = await rotateKey({ store: store.log, keyFile, clock: systemClock });
    await settle(2);
    await running.round();
    expect((await store.log.status()).keys.map(({ verifierKey }) => verifierKey)).toEqual([
      ...[first.previous, first.verifierKey],
    ]);
    await expectWhole(4);
    // The process died after the store had the key, before the file was put in place.
    const cut = Object.assign(new LogKeyFile(join(folder, 'log-key'), true), { useNext: () => {} });
    const second = await rotateKey({ store: store.log, keyFile: cut, clock: systemClock });
    await settle(1);
    await running.round();
    expect((await store.log.status()).keys.at(-1)).toMatchObject({ verifierKey: second.verifierKey, toMs: null });
    expect(keyFile.read()).toMatchObject({ verifier: { text: second.verifierKey } });
    await expectWhole(5);
  });
});
