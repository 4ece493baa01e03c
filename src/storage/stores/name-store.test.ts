import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { modelNameOf } from '../../catalogue/model-name.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

describe('the store of names', () => {
  let database: FreshDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ databaseUrl: database.databaseUrl, logger });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('gives what has changed after a version, and nothing where nothing has', async () => {
    expect(await store.names.changedSince('0')).toEqual({ names: [], total: 0, version: '0' });
    const name = modelNameOf('a', {
      ...{
        model: 'auto/x/y',
        fallback: { models: ['auto/x/z'] },
        provider: { sort: 'price' },
        defaults: { top_p: 0.1 },
      },
      ...{ note: 'was: b', imported_from: { system: 'litellm', id: '1' } },
    });
    const first = await store.names.put(name, 5);
    expect(first).toEqual({ ...name, createdAt: 5, updatedAt: 5 });
    const all = await store.names.changedSince('0');
    expect(all).toMatchObject({ names: [first], total: 1 });
    expect(await store.names.changedSince(all.version)).toEqual({ names: [], total: 1, version: all.version });
    await store.names.put({ ...name, target: 'auto/x/other' }, 9);
    const changed = await store.names.changedSince(all.version);
    expect(changed.names).toEqual([{ ...name, target: 'auto/x/other', createdAt: 5, updatedAt: 9 }]);
    expect([await store.names.delete('a'), await store.names.delete('a')]).toEqual([true, false]);
    expect(await store.names.changedSince(changed.version)).toMatchObject({ names: [], total: 0 });
  });

  it('takes 10,000 names and no more, but still replaces one', async () => {
    const client = new pg.Client({ ...inject('postgres'), database: database.connection.database });
    await client.connect();
    await client.query(
      `insert into lodestone.names select 'n' || i, '{"model":"auto/x/y"}', 0, 0, nextval('lodestone.names_version') from generate_series(1, 10000) i`,
    );
    await client.end();
    expect(await store.names.put(modelNameOf('one-more', { model: 'auto/x/y' }), 1)).toBeNull();
    expect(await store.names.put(modelNameOf('n1', { model: 'auto/x/y' }), 1)).not.toBeNull();
  });
});
