/** Keys that end while they are in use: what runs may finish, what comes next is refused, and nothing usable stays behind. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { ManualClock } from '../support/manual-clock.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, words } from './fixture.js';

const clock = new ManualClock('2026-03-01T12:00:00Z');
let gateway: TestGateway;
let upstream: up.ScriptedUpstream;
let rig: { gateway: TestGateway; upstream: up.ScriptedUpstream };
beforeAll(async () => {
  upstream = await up.startUpstream();
  gateway = await startGateway({
    catalogue: catalogueOf({ acme: upstream.url }),
    clock: { now: () => clock.now(), monotonicMs: () => performance.now() },
  });
  rig = { gateway, upstream };
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** A stream that waits for `release` after its third word. */
function heldStream(): { script: up.Script; release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const frames = up.streamOf(words(6));
  const script: up.Script = async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(frames.slice(0, 4).map(up.frameText).join(''));
    await released;
    await exchange.write([...frames.slice(4).map(up.frameText), 'data: [DONE]\n\n'].join(''));
    exchange.close('fin');
  };
  return { script, release };
}

it('streams that run when their key is deleted finish and are billed; the next call gets 401, also after they ended', async () => {
  const account = await gateway.createAccount();
  const held = heldStream();
  upstream.reset();
  upstream.reply(held.script);
  const running = Array.from({ length: 10 }, () => gateway.stream(ask(), { key: account.key }));
  await upstream.waitForCalls(10);
  expect((await gateway.admin('DELETE', `/accounts/${account.accountId}/keys/${account.keyId}`)).status).toBe(204);
  const refused = async () => (await gateway.chat(ask(), { key: account.key })).json.error?.code;
  expect(await refused()).toBe('api_key_not_registered');
  held.release();
  for (const reply of await Promise.all(running))
    expect([reply.content, reply.done]).toEqual([words(6).join(''), true]);
  for (let again = 0; again < 5; again++) expect(await refused()).toBe('api_key_not_registered');
  expect(upstream.calls).toHaveLength(10);
  const second = await gateway.admin('POST', `/accounts/${account.accountId}/keys`, {
    name: 'second',
    expires: 'never',
  });
  const costs = Array.from({ length: 10 }, () => costOf(9, 6));
  await expectBooks(gateway, { ...account, key: second.json.token }, { records: 10, costs });
  await expectServes(rig);
});

it('a key that expires mid-stream lets the stream finish, is then refused as expired, stays listed, and leaves no usable secret', async () => {
  const account = await gateway.createAccount();
  const { json: key } = await gateway.admin('POST', `/accounts/${account.accountId}/keys`, {
    name: 'short',
    expires: '7d',
  });
  const held = heldStream();
  upstream.reset();
  upstream.enqueue(held.script);
  const running = gateway.stream(ask(), { key: key.token });
  await upstream.waitForCalls(1);
  expect((await gateway.chat(ask(), { key: key.token })).status).toBe(200);
  clock.advance(7 * 86_400_000 + 1);
  const refused = await gateway.chat(ask(), { key: key.token });
  expect([refused.status, refused.json.error.code]).toEqual([401, 'api_key_expired']);
  held.release();
  expect((await running).done).toBe(true);
  expect((await gateway.chat(ask(), { key: key.token })).json.error.code).toBe('api_key_expired');
  expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
  const { json: list } = await gateway.admin('GET', `/accounts/${account.accountId}/keys`);
  const states = Object.fromEntries(list.data.map(({ name, state }: { name: string; state: string }) => [name, state]));
  expect(states).toEqual({ test: 'active', short: 'expired' });
  await expectBooks(gateway, account, { records: 3, costs: [costOf(9, 6), costOf(9, 3), costOf(9, 3)] });

  const dump = await everythingStored();
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256').update(key.token).digest();
  for (const secret of [
    key.token,
    key.token.slice(16),
    hash.toString('hex'),
    hash.toString('base64'),
    hash.toString('base64url'),
  ]) {
    expect(dump.includes(secret)).toBe(false);
  }
  expect(dump.includes('"short"')).toBe(true);
  const wrong = `${key.token.slice(0, -1)}${key.token.endsWith('A') ? 'B' : 'A'}`;
  expect((await gateway.chat(ask(), { key: wrong })).status).toBe(401);
  await expectServes(rig);
});

/** Every row of every table, as text; bytes in hex. */
async function everythingStored(): Promise<string> {
  const client = new pg.Client(gateway.files.databaseUrl!);
  await client.connect();
  const tables = await client.query<{ schema: string; name: string }>(
    `select table_schema as schema, table_name as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  let dump = '';
  for (const { schema, name } of tables.rows) {
    const { rows } = await client.query(`select to_jsonb(t)::text as row from "${schema}"."${name}" t`);
    dump += rows.map(({ row }) => row).join('\n');
  }
  await client.end();
  return dump;
}
