import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStoreProxy } from '../../tests/faults/store-proxy.js';
import { measuredTime } from '../../tests/support/measured-time.js';
import { databaseUrlOf, type FreshDatabase, freshDatabase } from '../../tests/support/postgres.js';
import { silentLogger as logger } from '../base/logger.js';
import type { NewAccount } from '../domain/account.js';
import { type Alias, type ApiKey, newAccount as accountOf, openTerms } from '../domain/account.js';
import { migrations } from './migrations/index.js';
import { openStore } from './open-store.js';
import { type Store, StoreUnavailable } from './store.js';

const at = Date.parse('2026-03-01T12:00:00.123Z');
let accountNumber = 0;

function anAccount(): NewAccount {
  const id = `account-${++accountNumber}`;
  return { id, email: `${id}@example.com`, name: 'Ann', billingCountry: 'DE', createdAt: at };
}
const aKey = (accountId: string, id: string, fields: Partial<ApiKey> = {}): ApiKey => ({
  id,
  accountId,
  name: 'production',
  lastFour: 'wxyz',
  hash: Buffer.alloc(32, 7),
  expiresAt: null,
  terms: openTerms,
  projectId: null,
  holderId: null,
  createdAt: at,
  ...fields,
});
const anAlias = (name: string): Alias => ({
  name,
  provider: 'acme',
  canonicalId: 'meta/llama',
  locode: 'defra',
  createdAt: at,
  updatedAt: at,
});

describe('the PostgreSQL store', () => {
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

  async function newAccount(): Promise<string> {
    const account = anAccount();
    await store.accounts.create(account);
    return account.id;
  }

  it('gives an account back as it was made, with a balance of zero', async () => {
    const account = anAccount();
    expect(await store.accounts.create(account)).toBe('created');
    expect(await store.accounts.find(account.id)).toEqual(accountOf(account));
    expect(await store.accounts.find('nobody')).toBeNull();
  });

  it('refuses an email that is taken, whatever its case', async () => {
    const account = anAccount();
    await store.accounts.create(account);
    expect(await store.accounts.create({ ...anAccount(), email: account.email.toUpperCase() })).toBe('email_taken');
  });

  it('changes only what an update names', async () => {
    const id = await newAccount();
    await store.accounts.update(id, { limits: { requestsPerMinute: 5, tokensPerMinute: null } });
    await store.accounts.update(id, { status: 'suspended' });
    await store.accounts.update(id, { billingCountry: null });
    await store.accounts.update(id, {});
    expect(await store.accounts.find(id)).toMatchObject({
      status: 'suspended',
      billingCountry: null,
      name: 'Ann',
      limits: { requestsPerMinute: 5, tokensPerMinute: null },
    });
    expect(await store.accounts.list()).toHaveLength(await store.accounts.count());
  });

  it('finds a key with its account and aliases, and nothing once it is deleted', async () => {
    const id = await newAccount();
    const key = aKey(id, 'k-find');
    await store.keys.create(key, 10);
    await store.aliases.create(id, anAlias('fast'), 5);
    const found = await store.keys.findWithAccount('k-find');
    expect(found?.key).toEqual(key);
    expect(found?.account.aliases.get('fast')).toEqual(anAlias('fast'));
    expect(await store.keys.list(id)).toEqual([key]);
    expect(await store.keys.delete('account-other', 'k-find')).toBeNull();
    expect(await store.keys.delete(id, 'k-find')).toBe(key.createdAt);
    expect(await store.keys.findWithAccount('k-find')).toBeNull();
  });

  it('changes the name and the terms of a key, keeps parallel changes of different terms, and notes its uses', async () => {
    const id = await newAccount();
    await store.keys.create(aKey(id, 'k-terms'), 10);
    const changes = [{ disabled: true }, { limitPico: 7n }, { allowedModels: ['a/*'] }, { requestsPerMinute: 3 }];
    await Promise.all(changes.map((terms) => store.keys.update(id, 'k-terms', { terms })));
    const key = aKey(id, 'k-terms', { name: 'b', terms: Object.assign({}, openTerms, ...changes) });
    expect(await store.keys.update(id, 'k-terms', { name: 'b' })).toEqual(key);
    expect((await store.keys.findWithAccount('k-terms'))?.key).toEqual(key);
    expect(await store.keys.update('account-other', 'k-terms', { name: 'c' })).toBeNull();
    await store.keys.noteUses(
      new Map([
        ['k-terms', at + 5],
        ['k-unknown', at],
      ]),
    );
    await store.keys.noteUses(new Map([['k-terms', at + 4]]));
    expect(await store.keys.figures(id)).toEqual(new Map([['k-terms', { usagePico: 0n, lastUsedAt: at + 5 }]]));
  });

  it('erases the hash of a key that has expired and keeps its id', async () => {
    const id = await newAccount();
    await store.keys.create(aKey(id, 'k-old', { expiresAt: at + 1000 }), 10);
    await store.keys.create(aKey(id, 'k-new', { expiresAt: at + 5000 }), 10);
    expect(await store.keys.nextExpiry(at)).toBe(at + 1000);
    expect(await store.keys.eraseExpired(at + 999)).toBe(0);
    expect(await store.keys.eraseExpired(at + 1000)).toBe(1);
    expect((await store.keys.findWithAccount('k-old'))?.key).toMatchObject({ hash: null, expiresAt: at + 1000 });
    expect(await store.keys.nextExpiry(at)).toBe(at + 5000);
    expect(await store.keys.nextExpiry(at + 5000)).toBeNull();
  });

  it('never lets parallel calls exceed the limit of alias slots', async () => {
    const id = await newAccount();
    const names = Array.from({ length: 9 }, (_, i) => `alias-${i}`);
    const outcomes = await Promise.all(names.map((name) => store.aliases.create(id, anAlias(name), 5)));
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === 'limit')).toHaveLength(4);
    expect((await store.accounts.find(id))?.aliases.size).toBe(5);
  });

  it('tells a name that exists from a full account, and repoints and deletes', async () => {
    const id = await newAccount();
    await store.aliases.create(id, anAlias('one'), 1);
    expect(await store.aliases.create(id, anAlias('one'), 1)).toBe('exists');
    expect(await store.aliases.create(id, anAlias('two'), 1)).toBe('limit');
    const moved = { ...anAlias('one'), provider: 'auto', locode: null, updatedAt: at + 1 };
    expect(await store.aliases.replace(id, moved)).toBe(true);
    expect((await store.accounts.find(id))?.aliases.get('one')).toEqual(moved);
    expect(await store.aliases.delete(id, 'one')).toBe(true);
    expect(await store.aliases.delete(id, 'one')).toBe(false);
    expect(await store.aliases.replace(id, moved)).toBe(false);
  });

  it('keeps model states and the audit, newest first', async () => {
    await store.availability.set('meta/llama', { state: 'soft_disabled', reason: 'maintenance' });
    await store.availability.set('meta/llama', { state: 'disabled', reason: null });
    expect((await store.availability.all()).get('meta/llama')).toEqual({ state: 'disabled', reason: null });
    const entry = { createdAt: at, actor: 'operator', action: 'key.create', subject: 'account-1', details: { n: [1] } };
    await store.audit.add({ id: 'a1', ...entry });
    await store.audit.add({ id: 'a2', ...entry });
    const none = { by: null, accountId: null, address: null, leafIndex: null };
    expect(await store.audit.list(1)).toEqual([{ id: 'a2', seq: expect.any(Number), ...entry, ...none }]);
  });

  it('keeps text with U+0000 in it, without that character', async () => {
    const account = { ...anAccount(), name: 'nul\u0000l' };
    await store.accounts.create(account);
    expect((await store.accounts.find(account.id))?.name).toBe('null');
  });

  it('recovers by itself when the server has closed every connection', async () => {
    await store.ping();
    const owner = new pg.Client(inject('postgres'));
    await owner.connect();
    await owner.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      database.connection.database,
    ]);
    await owner.end();
    await expect
      .poll(() =>
        store.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('says StoreUnavailable when the server cannot be reached', async () => {
    const databaseUrl = databaseUrlOf({ ...database.connection, host: '/nonexistent' });
    await expect(openStore({ databaseUrl, logger })).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('says StoreUnavailable when the database is gone, and never rejects otherwise', async () => {
    const doomed = await freshDatabase();
    const opened = await openStore({ databaseUrl: doomed.databaseUrl, logger });
    await doomed.drop();
    await expect(opened.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(opened.aliases.create('a', anAlias('x'), 5)).rejects.toBeInstanceOf(StoreUnavailable);
    await opened.close();
  });
});

describe('a server that does not answer', () => {
  it('does not keep the store from closing in time', async () => {
    const database = await freshDatabase();
    const proxy = await startStoreProxy(database.databaseUrl);
    const store = await openStore({ databaseUrl: proxy.databaseUrl, logger });
    const feed = await store.changes.listen(() => {});
    await store.ping();
    proxy.set('frozen');
    const startMs = performance.now();
    await feed.close();
    await store.close();
    expect(performance.now() - startMs, measuredTime).toBeLessThan(20_000);
    proxy.close();
    await database.drop();
  });
});

describe('long queries of the history', () => {
  it('never delay the lookup of a key, however many there are', async () => {
    const database = await freshDatabase();
    const store = await openStore({ databaseUrl: database.databaseUrl, logger });
    const other = new pg.Client(database.databaseUrl);
    await other.connect();
    await other.query('begin; lock table lodestone.ledger_posts, lodestone.generations in access exclusive mode');
    const period = { accountId: 'a', fromMs: 0, toMs: 1, stepMs: 1, intensities: new Map() };
    const looks = Array.from({ length: 6 }, () => [
      store.usage.summary(period),
      store.generations.list({ accountId: 'a', limit: 1 }),
      store.ledger.list('a', 1, { kind: 'usage' }),
    ]).flat();
    const ended = Promise.allSettled(looks);
    const startMs = performance.now();
    expect(await store.keys.findWithAccount('unknown')).toBeNull();
    // The others wait for the table until it is released, so any answer here came before theirs.
    expect(performance.now() - startMs, measuredTime).toBeLessThan(10_000);
    await other.query('commit');
    await ended;
    await other.end();
    await store.close();
    await database.drop();
  });
});

describe('migrations', () => {
  it('run once when four processes open an empty database at the same time, and leave other tables alone', async () => {
    const owner = new pg.Client(inject('postgres'));
    await owner.connect();
    await owner.query('create database parallel_openers');
    const connection = { ...inject('postgres'), database: 'parallel_openers' };
    const other = new pg.Client(connection);
    await other.connect();
    await other.query('create table accounts as select 42 as theirs');
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore({ connection, logger })));
    for (const store of stores) expect(await store.accounts.count()).toBe(0);
    const ran = await other.query('select name from lodestone.lodestone_migrations');
    expect(ran.rows).toEqual(migrations.map(({ name }) => ({ name })));
    expect((await other.query('select * from accounts')).rows).toEqual([{ theirs: 42 }]);
    await Promise.all(stores.map((store) => store.close()));
    await other.end();
    await owner.query('drop database parallel_openers with (force)');
    await owner.end();
  });
});
