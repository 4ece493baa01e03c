import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { HeldSpend } from '../budget-types.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

let database: FreshDatabase;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  client = new pg.Client({ ...database.connection });
  await client.connect();
});
beforeEach(async () => {
  await client.query('truncate lodestone.spend_processes, lodestone.spend_turns, lodestone.spend_held');
});
afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

const big = 10n ** 30n;
const row = (subject: string, heldPico: bigint, more: Partial<HeldSpend> = {}): HeldSpend => ({
  ...{ subject, accountId: 'a', heldPico, unsettledPico: 0n, requests: 1 },
  ...more,
});
const join = (process: string, wantsStore = false, inStore = false) =>
  store.spend.join({ process, wantsStore, inStore });
const silence = (process: string) =>
  client.query(`update lodestone.spend_processes set seen_at = now() - interval '6 seconds' where process = $1`, [
    process,
  ]);

describe('where processes count', () => {
  it('is told to the others that live, until they end or say nothing for five seconds', async () => {
    expect(await join('p')).toEqual([]);
    expect(await join('q', true)).toEqual([{ process: 'p', wantsStore: false, inStore: false }]);
    expect(await join('p', false, true)).toEqual([{ process: 'q', wantsStore: true, inStore: false }]);
    expect(await join('r')).toHaveLength(2);
    await store.spend.leave('r');
    await silence('q');
    expect(await join('p')).toEqual([]);
    await join('q');
    expect(await join('p')).toHaveLength(1);
  });
});

describe('what processes hold', () => {
  it('is read with the turn of the account, without the own and without that of the dead', async () => {
    for (const process of ['p', 'q', 'r']) await join(process);
    expect(await store.spend.heldByOthers('p', 'a')).toEqual({ turn: '0', held: [] });
    const [one, two] = [row('x', big, { unsettledPico: 7n }), row('y', 5n)];
    expect(await store.spend.take('q', 'a', '0', [one, two])).toBe(true);
    await store.spend.write('r', [row('x', 3n), row('z', 4n, { accountId: 'b' })]);
    await store.spend.write('p', [row('x', 9n)]);
    const { turn, held } = await store.spend.heldByOthers('p', 'a');
    expect(turn).toBe('1');
    expect(held).toHaveLength(3);
    expect(held).toEqual(expect.arrayContaining([one, two, row('x', 3n)]));
    await silence('q');
    expect((await store.spend.heldByOthers('p', 'a')).held).toEqual([row('x', 3n)]);
  });

  it('is written for whoever takes the turn first, and only once', async () => {
    await Promise.all(['p', 'q'].map((process) => join(process)));
    for (let turn = 0; turn < 10; turn++) {
      const taken = await Promise.all(
        ['p', 'q'].map((process) => store.spend.take(process, 'a', String(turn), [row(process, BigInt(turn))])),
      );
      expect([...taken].sort()).toEqual([false, true]);
    }
    expect(await store.spend.take('p', 'a', '3', [row('p', 99n)])).toBe(false);
    expect((await store.spend.heldByOthers('x', 'a')).held.map(({ heldPico }) => heldPico)).not.toContain(99n);
  });

  it('is replaced whole with that of processes that have died', async () => {
    for (const process of ['p', 'q', 'r']) {
      await join(process);
      await store.spend.write(process, [row('x', 1n), row('y', 2n)]);
    }
    await silence('r');
    await store.spend.writeAll('p', [row('y', 5n)]);
    const { rows } = await client.query('select process, subject from lodestone.spend_held order by 1, 2');
    expect(rows.map(({ process, subject }) => process + subject)).toEqual(['py', 'qx', 'qy']);
    await store.spend.writeAll('p', []);
    expect((await store.spend.heldByOthers('q', 'a')).held).toEqual([]);
  });
});
