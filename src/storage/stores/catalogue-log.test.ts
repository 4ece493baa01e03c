import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { CatalogueChange } from '../../catalogue/changes.js';
import { openStore } from '../open-store.js';
import type { CatalogueLoad, Store } from '../store.js';

const aChange = (fields: Partial<CatalogueChange> = {}): CatalogueChange => ({
  ...{
    kind: 'price',
    id: 'acme/meta/llama/defra',
    field: 'input',
    from: '1',
    to: '2',
    source: 'list',
    asOf: '2026-08',
  },
  ...fields,
});

describe('the changes of the catalogue in PostgreSQL', () => {
  let database: FreshDatabase;
  let store: Store;
  let replica: Store;
  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ databaseUrl: database.databaseUrl, logger });
    replica = await openStore({ databaseUrl: database.databaseUrl, logger });
  });
  afterAll(async () => {
    await Promise.all([store.close(), replica.close()]);
    await database.drop();
  });

  const aLoad = (digest: string, atMs: number, changes: CatalogueChange[]): CatalogueLoad => ({
    ...{ digest, atMs, text: JSON.stringify({ model: { [digest]: { id: digest } } }) },
    changesSince: () => changes,
  });
  const all = () => store.catalogueLog.changes({ limit: 100, offset: 0 });

  it('are none for the first load, and none for the same facts', async () => {
    expect(await store.catalogueLog.record(aLoad('one', 1000, [aChange()]))).toBe(0);
    expect(await replica.catalogueLog.record(aLoad('one', 2000, [aChange()]))).toBe(0);
    expect(await all()).toEqual({ data: [], hasMore: false });
  });

  it('are compared with the facts in force, and recorded once, however many processes load them at once', async () => {
    const seen: unknown[] = [];
    const changesSince = (before: unknown) => {
      seen.push(before);
      return [aChange()];
    };
    const load = { ...aLoad('two', 3000, []), changesSince };
    const counts = await Promise.all(
      [store, replica, store, replica].map(({ catalogueLog }) => catalogueLog.record(load)),
    );
    expect(counts.sort()).toEqual([0, 0, 0, 1]);
    expect(seen).toEqual([{ model: { one: { id: 'one' } } }]);
    expect((await all()).data).toEqual([{ ...aChange(), atMs: 3000, position: 0, digest: 'two' }]);
  });

  it('come newest first, also where a clock was set back, with every kind of value', async () => {
    const values = [
      aChange({ kind: 'carbon', id: 'defra', field: 'carbon', from: 300, to: 250.5 }),
      aChange({ kind: 'jurisdiction', id: 'acme', field: 'cloud_act', from: null, to: true, source: null, asOf: null }),
      aChange({ kind: 'terms', id: 'meta/llama', field: 'excluded_territories', from: ['CU'], to: null }),
    ];
    await replica.catalogueLog.record(aLoad('three', 2500, values));
    const { data } = await all();
    expect(data.map(({ digest, atMs }) => [digest, atMs])).toEqual([
      ...[3, 3, 3].map(() => ['three', 3001]),
      ['two', 3000],
    ]);
    expect(data.slice(0, 3)).toEqual(
      values.map((value, position) => ({ ...value, atMs: 3001, position, digest: 'three' })),
    );
  });

  it('are filtered by model and provider, and paged', async () => {
    const read = async (query: object) => {
      const { data, hasMore } = await store.catalogueLog.changes({ limit: 100, offset: 0, ...query });
      return [data.map(({ id }) => id), hasMore];
    };
    const llama = 'acme/meta/llama/defra';
    expect(await read({ model: 'meta/llama' })).toEqual([['meta/llama', llama], false]);
    expect(await read({ provider: 'acme' })).toEqual([['acme', llama], false]);
    expect(await read({ provider: 'acme', model: 'meta/llama' })).toEqual([[llama], false]);
    expect(await read({ model: "meta/llama' or true" })).toEqual([[], false]);
    const related = { providers: ['acme'], locodes: ['defra'] };
    expect(await read({ model: 'meta/llama', related })).toEqual([['defra', 'acme', 'meta/llama', llama], false]);
    expect(await read({ limit: 1 })).toEqual([['defra'], true]);
    expect(await read({ limit: 3, offset: 1 })).toEqual([['acme', 'meta/llama', llama], false]);
  });
});
