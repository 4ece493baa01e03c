import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { unrestricted } from '../../support/key-terms.js';
import { ManualClock } from '../../support/manual-clock.js';
import { sse, streamOf } from '../../support/scripted-upstream.js';
import { query } from '../database.js';
import { ask, badRequest, expectError, useGateway } from '../harness.js';

const start = '2026-01-31T12:00:00.000Z';
const clock = new ManualClock(start);
const bench = useGateway({ clock });

const keysPath = (accountId: string) => `/accounts/${accountId}/keys`;
async function makeKey(expires?: unknown, name = 'a key') {
  const { accountId } = await bench.gateway.createAccount();
  const body = { name, ...(expires !== undefined && { expires }) };
  return { accountId, reply: await bench.gateway.admin('POST', keysPath(accountId), body) };
}
const listed = async (accountId: string): Promise<Json[]> =>
  (await bench.gateway.admin('GET', keysPath(accountId))).json.data;
const chat = (key: string) => bench.gateway.chat(ask(), { key });
const expired = (...says: string[]) => ({ status: 401, type: 'authentication_error', code: 'api_key_expired', says });
const notRegistered = { status: 401, type: 'authentication_error', code: 'api_key_not_registered' };

describe('POST /admin/v1/accounts/{id}/keys', () => {
  it('201 with the token, shown here and nowhere else', async () => {
    const { accountId, reply } = await makeKey('never', 'Ada’s laptop');
    expect(reply.status).toBe(201);
    const { token, ...rest } = reply.json;
    expect(token).toMatch(/^sk-lr-[A-Za-z0-9_-]{43}$/);
    expect(rest).toEqual({
      id: token.slice(6, 16),
      name: 'Ada’s laptop',
      prefix: 'sk-lr-',
      last_four: token.slice(-4),
      imported_from: null,
      expires_at: null,
      state: 'active',
      created_at: expect.stringMatching(/^2026-01-31T/),
      ...unrestricted,
    });
    expect(await listed(accountId)).toContainEqual(rest);
    const everything = JSON.stringify([await listed(accountId), (await bench.gateway.admin('GET', '/audit')).json]);
    expect(everything).not.toContain(token.slice(16));
    expect((await chat(token)).status).toBe(200);
  });

  it('keeps at rest only the id and a SHA-256 of the token', async () => {
    const { token } = (await makeKey('never')).reply.json;
    const [row] = await query(bench.gateway, 'select * from lodestone.keys where id = $1', [token.slice(6, 16)]);
    expect(row!.hash).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(row)).not.toContain(token.slice(16, 45));
  });

  it.each([
    [undefined, '2026-05-01T12:00:00.000Z'],
    [null, '2026-05-01T12:00:00.000Z'],
    ['90d', '2026-05-01T12:00:00.000Z'],
    ['7d', '2026-02-07T12:00:00.000Z'],
    ['1d', '2026-02-01T12:00:00.000Z'],
    ['30d', '2026-03-02T12:00:00.000Z'],
    ['1mo', '2026-02-28T12:00:00.000Z'],
    ['6mo', '2026-07-31T12:00:00.000Z'],
    ['12mo', '2027-01-31T12:00:00.000Z'],
    ['365d', '2027-01-31T12:00:00.000Z'],
    ['never', null],
    ['2026-06-01T00:00:00Z', '2026-06-01T00:00:00.000Z'],
    ['2026-06-01T02:30:00+02:30', '2026-06-01T00:00:00.000Z'],
    ['2026-06-01T00:00:00.125Z', '2026-06-01T00:00:00.125Z'],
  ])('expires %j is %s', async (expires, expected) => {
    expect((await makeKey(expires)).reply.json.expires_at).toBe(expected);
  });

  it.each([
    '',
    '0d',
    '-1d',
    '13mo',
    '366d',
    '9999d',
    '1y',
    '90',
    'tomorrow',
    'Never',
    '2026-01-31T11:59:59Z',
    '2020-01-01T00:00:00Z',
    '2027-02-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-06-01',
    5,
    true,
    {},
  ])('expires %j: 400, param expires', async (expires) =>
    expectError((await makeKey(expires)).reply, badRequest('expires', '`expires`')),
  );

  it.each(['', ' ', 'x'.repeat(101), 'a\u0000b', 5, null])('name %j: 400, param name', async (name) => {
    const { accountId } = await bench.gateway.createAccount();
    expectError(await bench.gateway.admin('POST', keysPath(accountId), { name }), badRequest('name'));
  });
});

describe('expiry', () => {
  it('at its moment the key stops: 401 api_key_expired, listed as expired, its hash erased, for good', async () => {
    const { gateway, upstream } = bench;
    const { accountId, reply } = await makeKey('1d');
    const { token, id, expires_at } = reply.json;
    clock.setWall(Date.parse(expires_at) - 1);
    expect((await chat(token)).status).toBe(200);
    clock.setWall(Date.parse(expires_at));
    upstream.reset();
    expectError(await chat(token), expired(expires_at, 'Create a new key'));
    expectError(await gateway.call('GET', '/v1/models', undefined, { key: token }), expired());
    expect(upstream.calls).toHaveLength(0);
    expect(await listed(accountId)).toContainEqual(
      expect.objectContaining({ id, state: 'expired', last_four: token.slice(-4) }),
    );
    const hash = async () => (await query(gateway, 'select hash from lodestone.keys where id = $1', [id]))[0]!.hash;
    await expect.poll(hash, { timeout: 60_000 }).toBeNull();
    expectError(await chat(token), expired(expires_at));
    clock.setWall(start);
    expectError(await chat(token), expired());
  });

  it('from then on the id alone answers, whatever the secret half', async () => {
    const { reply } = await makeKey('1d');
    const { token, expires_at } = reply.json;
    clock.setWall(Date.parse(expires_at) + 1);
    const forged = `${token.slice(0, 16)}${'A'.repeat(33)}`;
    expectError(await chat(forged), expired());
    clock.setWall(start);
  });

  it('no hash of an expired key is left anywhere in the database', async () => {
    const { gateway } = bench;
    const { token, expires_at } = (await makeKey('7d')).reply.json;
    const hex = createHash('sha256').update(token).digest('hex');
    const tables = await query(
      gateway,
      `select table_name from information_schema.tables where table_schema = 'lodestone' and table_type = 'BASE TABLE'`,
    );
    const found = async () => {
      const dumps = await Promise.all(
        tables.map(({ table_name }) => query(gateway, `select t::text as row from lodestone.${table_name} t`)),
      );
      return JSON.stringify(dumps).includes(hex);
    };
    expect(await found()).toBe(true);
    clock.setWall(Date.parse(expires_at));
    await chat(token);
    await expect.poll(found, { timeout: 60_000 }).toBe(false);
    clock.setWall(start);
  });

  it('a stream that is running then may finish; the next request is refused', async () => {
    const { gateway, upstream } = bench;
    const { token, expires_at } = (await makeKey('1d')).reply.json;
    upstream.reply(sse(streamOf(['a', 'b', 'c']), { gapMs: 80 }));
    const running = gateway.stream(ask(), { key: token });
    await upstream.waitForCalls(1);
    clock.setWall(Date.parse(expires_at));
    expectError(await chat(token), expired());
    const reply = await running;
    expect([reply.status, reply.content, reply.done]).toEqual([200, 'abc', true]);
    clock.setWall(start);
  });
});

describe('DELETE /admin/v1/accounts/{id}/keys/{key_id}', () => {
  it('204, and the very next request is api_key_not_registered; the row is gone', async () => {
    const { gateway, upstream } = bench;
    const { accountId, reply } = await makeKey('never');
    const { token, id } = reply.json;
    expect((await chat(token)).status).toBe(200);
    const deleted = await gateway.admin('DELETE', `${keysPath(accountId)}/${id}`);
    upstream.reset();
    const [first] = await Promise.all([
      chat(token),
      chat(token),
      gateway.call('GET', '/v1/key', undefined, { key: token }),
    ]);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expectError(first, notRegistered);
    expect(upstream.calls).toHaveLength(0);
    expect((await listed(accountId)).map((key) => key.id)).not.toContain(id);
    expect(await query(gateway, 'select 1 from lodestone.keys where id = $1', [id])).toEqual([]);
    expect((await gateway.admin('DELETE', `${keysPath(accountId)}/${id}`)).status).toBe(404);
  });

  it('a stream running on the key finishes and does not bring it back', async () => {
    const { gateway, upstream } = bench;
    const { accountId, reply } = await makeKey('never');
    const { token, id } = reply.json;
    upstream.reply(sse(streamOf(['a', 'b', 'c']), { gapMs: 60 }));
    const running = gateway.stream(ask(), { key: token });
    await upstream.waitForCalls(1);
    await gateway.admin('DELETE', `${keysPath(accountId)}/${id}`);
    expect((await running).done).toBe(true);
    expectError(await chat(token), notRegistered);
    expect((await gateway.ledger(accountId))[0]!.kind).toBe('usage');
  });

  it('another key of the account goes on working; a key of another account is not found under this one', async () => {
    const { gateway } = bench;
    const mine = await makeKey('never');
    const theirs = await makeKey('never');
    const second = (await gateway.admin('POST', keysPath(mine.accountId), { name: 'second' })).json;
    expect((await gateway.admin('DELETE', `${keysPath(mine.accountId)}/${theirs.reply.json.id}`)).status).toBe(404);
    await gateway.admin('DELETE', `${keysPath(mine.accountId)}/${mine.reply.json.id}`);
    expect([(await chat(second.token)).status, (await chat(theirs.reply.json.token)).status]).toEqual([200, 200]);
  });

  it('an expired key can be deleted: then it is not registered', async () => {
    const { accountId, reply } = await makeKey('1d');
    const { token, id, expires_at } = reply.json;
    clock.setWall(Date.parse(expires_at));
    expectError(await chat(token), expired());
    expect((await bench.gateway.admin('DELETE', `${keysPath(accountId)}/${id}`)).status).toBe(204);
    expectError(await chat(token), notRegistered);
    clock.setWall(start);
  });
});

describe('an account has at most 200 keys', () => {
  const full = {
    status: 422,
    type: 'invalid_request_error',
    code: 'key_limit_reached',
    param: 'name',
    says: ['200', 'Delete a key'],
  };
  const insertKeys = (accountId: string, count: number) =>
    query(
      bench.gateway,
      `insert into lodestone.keys (id, account_id, name, last_four, hash, expires_at, created_at)
       select substr(md5($1::text || n), 1, 10), $1, 'k' || n, 'abcd', null, case when n = 1 then to_timestamp(1) end, to_timestamp(1)
       from generate_series(1, $2::int) n`,
      [accountId, count],
    );

  it('422 for the 201st, however many arrive at once; an expired key counts until it is deleted', async () => {
    const { accountId } = await bench.gateway.createAccount();
    await insertKeys(accountId, 189);
    const replies = await Promise.all(
      Array.from({ length: 25 }, () => bench.gateway.admin('POST', keysPath(accountId), { name: 'more' })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    for (const reply of replies.filter(({ status }) => status !== 201)) expectError(reply, full);
    const keys = await listed(accountId);
    expect(keys).toHaveLength(200);
    const expiredKey = keys.find(({ state }) => state === 'expired')!;
    expect((await bench.gateway.admin('DELETE', `${keysPath(accountId)}/${expiredKey.id}`)).status).toBe(204);
    expect((await bench.gateway.admin('POST', keysPath(accountId), { name: 'again' })).status).toBe(201);
    expectError(await bench.gateway.admin('POST', keysPath(accountId), { name: 'again' }), full);
  });

  it('the dashboard says the same', async () => {
    const owner = { email: 'many-keys@example.test', password: 'correct horse 77' };
    const { id } = (await bench.gateway.admin('POST', '/accounts', owner)).json;
    await insertKeys(id, 199);
    const client = new DashboardClient(bench.gateway.url);
    await client.call('POST', 'sign-in', owner);
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.call('POST', 'keys', { name: 'more' })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) expectError(reply, full);
  });
});
