import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { openTerms } from '../../domain/account.js';
import { defaultPolicy, readPolicy } from '../../policy/policy.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

const id = 'account-1';

describe('what routes an account, in PostgreSQL', () => {
  let database: FreshDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ databaseUrl: database.databaseUrl, logger });
    await store.accounts.create({ id, email: 'a@example.com', name: null, billingCountry: null, createdAt: 0 });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  async function columns(): Promise<{ routing_policy: unknown; fallback_models: unknown }> {
    return (await query('select routing_policy, fallback_models from lodestone.accounts')).rows[0];
  }

  async function query(text: string) {
    const client = new pg.Client(database.connection);
    await client.connect();
    return client.query(text).finally(() => client.end());
  }

  it('keeps a policy and a chain, each without touching the other, and gives them with the key too', async () => {
    const policy = readPolicy({ max_price: 0.29, max_carbon: 1e-7, regions: { allow: ['de'] }, prefer: 'carbon' });
    const fallback = ['auto/meta/llama', 'alias/fast'];
    await store.accounts.update(id, { policy });
    await store.accounts.update(id, { fallback });
    expect(await store.accounts.find(id)).toMatchObject({ policy, fallback });
    const key = {
      ...{ id: 'k', accountId: id, name: 'k', lastFour: 'wxyz' },
      hash: null,
      expiresAt: null,
      createdAt: 0,
      terms: openTerms,
      projectId: null,
      holderId: null,
    };
    await store.keys.create(key, 10);
    expect((await store.keys.findWithAccount('k'))?.account).toMatchObject({ policy, fallback });
    expect((await columns()).routing_policy).toEqual({ ...policy });
  });

  it('gives the default object and an empty chain back where they were reset, and keeps nothing of them', async () => {
    await store.accounts.update(id, { policy: defaultPolicy, fallback: [] });
    const account = await store.accounts.find(id);
    expect(account?.policy).toBe(defaultPolicy);
    expect(account?.fallback).toEqual([]);
    expect(await columns()).toEqual({ routing_policy: null, fallback_models: null });
  });

  it('gives aliases in the order in which they were made, whatever has been repointed since', async () => {
    const names = ['pin', 'auto', 'zeta'];
    const aliasOf = (name: string, createdAt: number) => ({
      ...{ name, provider: 'auto', canonicalId: 'meta/llama', locode: null },
      ...{ createdAt, updatedAt: createdAt },
    });
    for (const [at, name] of names.entries()) await store.aliases.create(id, aliasOf(name, at), 5);
    await store.aliases.replace(id, { ...aliasOf('pin', 0), updatedAt: 9 });
    const orders = [
      await store.accounts.find(id),
      (await store.keys.findWithAccount('k'))?.account,
      (await store.accounts.list())[0],
    ].map((account) => [...(account?.aliases.keys() ?? [])]);
    expect(orders).toEqual([names, names, names]);
  });

  it.each([
    [`'{"max_carbon":"low","new_gate":{}}'`, `'[1,"auto/meta/llama",null]'`],
    [`'"text"'`, `'{"models":5}'`],
    [`'[]'`, `'null'`],
  ])('stays readable with %s and %s in the columns', async (policy, models) => {
    await query(`update lodestone.accounts set routing_policy = ${policy}, fallback_models = ${models}`);
    const account = await store.accounts.find(id);
    expect(account?.policy).toEqual({ ...defaultPolicy, ...(policy.includes('low') && { max_carbon: 0 }) });
    expect(account?.fallback).toEqual(models.startsWith(`'[1`) ? ['auto/meta/llama'] : []);
  });
});
