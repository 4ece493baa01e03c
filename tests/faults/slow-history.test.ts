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
  const timeouts = { first_byte_non_streaming: '60s', overall: '120s' };
  rig = await startRig({ config: { storage: { database_url: database.databaseUrl }, timeouts } });
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

it('does not say so where the database is gone', async () => {
  await blocker.end();
  await database.drop();
  const { status, json } = await get('/v1/activity');
  expect(status).toBe(500);
  expect(json.error?.message).not.toMatch(/shorter period/);
}, 60_000);
