import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { openStore } from '../open-store.js';
import type { CatalogueUpdateStore, Store, StoredUpdate } from '../store.js';

describe('the updates of the catalogue in PostgreSQL', () => {
  let database: FreshDatabase;
  let store: Store;
  let updates: CatalogueUpdateStore;
  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ databaseUrl: database.databaseUrl, logger });
    updates = store.catalogueUpdates;
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  const anUpdate = (version: string): StoredUpdate => ({
    ...{ version, part: 'all', note: `note of ${version}`, body: Buffer.from(version), appliedMs: 1_000 },
  });
  const used = async () => (await updates.find())?.version ?? null;

  it('takes one of several that were made at the same time from the same version', async () => {
    const versions = ['2027.01.01', '2027.01.02', '2027.01.03'];
    const taken = await Promise.all(versions.map((version) => updates.use(anUpdate(version), null)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await updates.kept()).toEqual([
      { version: versions[taken.indexOf(true)], part: 'all', appliedMs: 1_000, inUse: true },
    ]);
    expect(await updates.use(anUpdate('2027.02.01'), '2026.01.01')).toBe(false);
    expect(await updates.find('2027.02.01')).toBeNull();
  });

  it('keeps five, the newest and always the one in use, with all bytes', async () => {
    for (const month of ['03', '04', '05', '06', '07']) await updates.use(anUpdate(`2027.${month}.01`), await used());
    expect((await updates.kept()).map(({ version }) => version)).toEqual(
      ['07', '06', '05', '04', '03'].map((month) => `2027.${month}.01`),
    );
    await updates.use(anUpdate('2027.02.01'), await used());
    expect(await updates.find()).toEqual(anUpdate('2027.02.01'));
    expect((await updates.kept()).map(({ version, inUse }) => [version, inUse]).at(-1)).toEqual(['2027.02.01', true]);
    expect(await updates.kept()).toHaveLength(5);
    expect(await updates.use(null, '2027.02.01')).toBe(true);
    expect([await used(), (await updates.kept()).length]).toEqual([null, 5]);
  });

  it('lets one process look a day, and keeps what it found', async () => {
    const day = 86_400_000;
    const look = (nowMs: number) => updates.takeLook(nowMs, day);
    expect(await updates.lastLook()).toBeNull();
    expect((await Promise.all([look(5), look(5), look(5)])).filter(Boolean)).toHaveLength(1);
    expect([await look(5 + day - 1), await look(5 + day)]).toEqual([false, true]);
    await updates.reportLook({ atMs: 9, text: 'nothing' }, day + 100);
    expect(await updates.lastLook()).toEqual({ atMs: 9, text: 'nothing' });
    expect([await look(day + 99), await look(day + 100)]).toEqual([false, true]);
  });
});
