import { afterEach, describe, expect, it, vi } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../tests/support/postgres.js';
import { silentLogger as logger } from '../base/logger.js';
import { openStore } from './open-store.js';
import type { Store } from './store.js';

const askEveryMs = 20;
const waiting = { timeout: 10_000, interval: 20 };

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
