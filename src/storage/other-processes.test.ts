import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../tests/support/postgres.js';
import { silentLogger as logger } from '../base/logger.js';
import { settlementRow } from '../domain/settlement-row.js';
import { openStore } from './open-store.js';
import type { Store } from './store.js';

const askEveryMs = 20;
const waiting = { timeout: 60_000, interval: 20 };

describe('other processes on the same database', () => {
  const opened: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function database(): Promise<FreshDatabase> {
    const fresh = await freshDatabase();
    opened.push(() => fresh.drop());
    return fresh;
  }

  async function storeOn({ databaseUrl }: FreshDatabase): Promise<Store> {
    const store = await openStore({ databaseUrl, logger });
    opened.push(() => store.close());
    return store;
  }

  async function watcher(on: FreshDatabase) {
    const found = vi.fn<(any: boolean) => void>();
    const watching = await (await storeOn(on)).otherProcesses.watch(found, askEveryMs);
    opened.push(() => watching.close());
    return {
      found,
      sees: (any: boolean) => vi.waitFor(() => expect(found).toHaveBeenLastCalledWith(any), waiting),
      watching,
    };
  }

  it('do not keep rows of an older version out of the sums', async () => {
    const shared = await database();
    await watcher(shared);
    const store = await storeOn(shared);
    const at = Date.parse('2026-03-01T12:00:00Z');
    const person = { email: 'a@example.com', name: null, billingCountry: null };
    await store.accounts.create({ id: 'account', ...person, createdAt: at });
    await store.ledger.settle([settlementRow(aGeneration({ accountId: 'account', createdAt: at }))]);
    const client = new pg.Client(shared.databaseUrl);
    await client.connect();
    // As an older version leaves a row: written, but in no rollup.
    await client.query('delete from lodestone.usage_rollups');
    await client.query('update lodestone.generations set rolled_up = false');
    await client.end();
    const period = { fromMs: at - 1, toMs: at + 1, interval: 'day' as const, groupBy: null };
    expect((await store.usage.activity({ accountId: 'account', ...period })).total.requests).toBe(1);
  }, 60_000);

  it('are seen by each other from the start of the second to the end of either, and by nobody on another database', async () => {
    const shared = await database();
    const first = await watcher(shared);
    expect(first.found.mock.calls).toEqual([[false]]);
    const elsewhere = await watcher(await database());
    const second = await watcher(shared);
    expect(second.found.mock.calls[0]).toEqual([true]);
    await first.sees(true);
    await second.watching.close();
    await first.sees(false);
    expect(elsewhere.found).not.toHaveBeenCalledWith(true);
  });

  it('are seen too where they are a fleet, which listens to changes', async () => {
    const shared = await database();
    const listening = await (await storeOn(shared)).changes.listen(() => {});
    opened.push(() => listening.close());
    const alone = await watcher(shared);
    await alone.sees(true);
    await listening.close();
    await alone.sees(false);
  });
});
