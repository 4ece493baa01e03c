/** Queries over the history that take too long: the answer says what to narrow, never that the store cannot be reached, and requests go on. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { ask, type Rig, startRig } from './fixture.js';

let database: FreshDatabase;
let rig: Rig;
let account: TestAccount;
let blocker: pg.Client;
beforeAll(async () => {
  database = await freshDatabase();
  rig = await startRig({ config: { storage: { database_url: database.databaseUrl } } });
  account = await rig.gateway.createAccount({ credit: '1.00' });
  blocker = new pg.Client(database.databaseUrl);
  blocker.on('error', () => {});
  await blocker.connect();
}, 120_000);
afterAll(async () => {
  await rig.stop();
  await database.drop();
});

const get = (path: string) => rig.gateway.call('GET', path, undefined, { key: account.key });

it('says what to narrow, also to those that wait behind slow queries', async () => {
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
  expect((await get('/v1/activity')).status).toBe(200);
  // Whoever reads these tables waits, as for a query that reads too much. The server itself answers all the time.
  await blocker.query('begin; lock table lodestone.usage_rollups, lodestone.usage_series in access exclusive mode');
  try {
    const slow = Array.from({ length: 10 }, (_, i) => get(`/v1/activity?group_by=${i % 2 ? 'key' : 'model'}`));
    for (const { status, json } of await Promise.all(slow)) {
      expect([status, json.error?.code]).toEqual([500, 'api_error']);
      expect(json.error?.message).toMatch(/shorter period/);
      expect(json.error?.message).not.toMatch(/cannot be reached/);
    }
    expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
  } finally {
    await blocker.query('rollback');
  }
  await expect
    .poll(async () => (await get('/v1/activity')).json.total?.requests, { timeout: 60_000, interval: 200 })
    .toBe(2);
}, 180_000);

/** Every other answer that reads the history, with the parameters that narrow it. */
const readers = (id: string): [what: string, path: string][] => [
  ['generations', '/v1/generations'],
  ['generations with a filter', '/v1/generations?provider=nobody&from=2020-01-01T00:00:00Z'],
  ['ledger', `/admin/v1/accounts/${id}/ledger`],
  ['activity of all accounts', '/admin/v1/activity?group_by=account'],
];

it('says so at every other answer that reads the history', async () => {
  await expect.poll(async () => (await get('/v1/generations')).json.data?.length, { timeout: 60_000 }).toBe(2);
  const tables = ['generations', 'ledger_posts', 'usage_rollups', 'usage_series'].map((name) => `lodestone.${name}`);
  await blocker.query(`begin; lock table ${tables.join(', ')} in access exclusive mode`);
  try {
    const answers = readers(account.accountId).map(async ([what, path]) => {
      const { status, json } = path.startsWith('/admin/v1')
        ? await rig.gateway.admin('GET', path.slice('/admin/v1'.length))
        : await get(path);
      return { what, status, code: json.error?.code, message: String(json.error?.message) };
    });
    for (const { what, status, code, message } of await Promise.all(answers)) {
      expect([what, status, code]).toEqual([what, 500, 'api_error']);
      expect(message).toMatch(/Narrow it: ask for a shorter period .* or fewer entries/);
      expect(message).not.toMatch(/cannot be reached/);
    }
    const one = await get('/v1/generation?id=gen-01jd3p1q2r0000000000000000');
    expect([one.status, one.json.error?.message]).toEqual([500, expect.not.stringContaining('cannot be reached')]);
  } finally {
    await blocker.query('rollback');
  }
}, 180_000);

it('does not say so where the database is gone', async () => {
  await blocker.end();
  await database.drop();
  const { status, json } = await get('/v1/activity');
  expect(status).toBe(500);
  expect(json.error?.message).not.toMatch(/shorter period/);
}, 60_000);
