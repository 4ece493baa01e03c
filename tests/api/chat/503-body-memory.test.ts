/** Memory for request bodies is bounded: a limit for all clients together, and a quarter of it for one account. */
import { afterEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../../support/client.js';
import { RawConnection, type RawResponse } from '../../support/raw-http.js';
import { ask, expectError, useGateway } from '../harness.js';

const megabyte = 1_000_000;
const bench = useGateway({ config: { server: { body_memory_max: '8MiB' } } });
const full = (whose: string) => ({
  status: 503,
  type: 'internal_server_error',
  code: 'service_unavailable',
  says: [`The request bodies of ${whose} fill the`, 'Retry'],
});

const opened: RawConnection[] = [];
afterEach(async () => {
  for (const connection of opened.splice(0)) connection.close();
  // The gateway hears of it a moment later.
  await expect.poll(async () => (await chatOf(await bench.gateway.account(), 1.5 * megabyte)).status).toBe(200);
});

/** A chat whose body has this length. */
function chatOf({ key }: TestAccount, bytes = 0) {
  const padding = 'x'.repeat(Math.max(0, bytes - 200));
  return bench.gateway.chat(ask({ messages: [{ role: 'user', content: padding || 'Say hello.' }] }), { key });
}

/** Announces a body of `length` bytes and sends `sent` of them. */
async function upload({ key }: TestAccount, length: number, sent: number): Promise<RawConnection> {
  const connection = await RawConnection.open(bench.gateway.url);
  opened.push(connection);
  connection.socket.on('error', () => {});
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
  void connection.write(`${head}content-length: ${length}\r\n\r\n`);
  if (sent > 0) void connection.write(Buffer.alloc(sent, ' '));
  return connection;
}

/** An upload that stalls just before its end; over when the gateway has so much of it that nothing else fits into the share. */
async function stall(account: TestAccount, length: number): Promise<void> {
  await upload(account, length, length - 1);
  await expect.poll(() => isFull(account)).toBe(true);
}

/** Asked by a request that only announces its body, and so takes nothing from the upload that is still arriving. */
async function isFull(account: TestAccount): Promise<boolean> {
  const probe = await upload(account, 0.3 * megabyte, 0);
  const { status } = await probe.readUntil((bytes) => bytes.length > 0, 100);
  probe.close();
  opened.splice(opened.indexOf(probe), 1);
  return status === 503;
}

async function answerOf(connection: RawConnection): Promise<RawResponse> {
  return connection.readUntil((bytes) => bytes.includes('\r\n\r\n{') && bytes.includes('}}'), 2_000);
}

describe('503 for want of body memory', () => {
  it('an account whose stalled bodies fill its share is refused; another account is served', async () => {
    const [account, other] = [await bench.gateway.createAccount(), await bench.gateway.createAccount()];
    await stall(account, 1.9 * megabyte);
    const refused = await chatOf(account, 0.3 * megabyte);
    expectError(refused, full('this account'));
    expect(refused.headers.connection).toBe('close');
    expect(bench.upstream.calls).toHaveLength(0);
    expect((await chatOf(other, 0.3 * megabyte)).status).toBe(200);
    opened.pop()!.close();
    await expect.poll(async () => (await chatOf(account, 0.3 * megabyte)).status).toBe(200);
  });

  it('bodies that are announced and never sent take nothing', async () => {
    const account = await bench.gateway.createAccount();
    for (let count = 0; count < 30; count++) await upload(account, 1.9 * megabyte, 0);
    expect((await chatOf(account, 0.3 * megabyte)).status).toBe(200);
  });

  it('bodies that were let in together do not break the bound: those that would are cut off with the 503', async () => {
    const account = await bench.gateway.createAccount();
    const uploads = await Promise.all(Array.from({ length: 30 }, () => upload(account, megabyte, 0)));
    for (const connection of uploads) void connection.write(Buffer.alloc(megabyte - 1, ' '));
    await expect.poll(() => uploads.filter(({ received }) => received.length > 0).length).toBeGreaterThanOrEqual(28);
    for (const connection of uploads.filter(({ received }) => received.length > 0)) {
      const { status, json, headers } = await answerOf(connection);
      expectError({ status, json: json as never, headers }, full('this account'));
      expect(headers.connection).toBe('close');
    }
    expect((await chatOf(await bench.gateway.account(), 0.3 * megabyte)).status).toBe(200);
  });

  it('all callers together have one bound', async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => bench.gateway.createAccount()));
    for (const account of accounts.slice(0, 4)) await stall(account, 1.9 * megabyte);
    expectError(await chatOf(accounts[4]!, 0.9 * megabyte), full('all callers'));
  });

  it('comes after the 413, and before the limits of the key and the balance', async () => {
    const account = await bench.gateway.createAccount({ credit: '10' });
    await stall(account, 1.9 * megabyte);
    const tooLong = await upload(account, 33_554_433, 0);
    expect((await answerOf(tooLong)).status).toBe(413);
    const change = { limits: { requests_per_minute: 1 } };
    await bench.gateway.admin('PATCH', `/accounts/${account.accountId}`, change);
    await bench.gateway.admin('POST', `/accounts/${account.accountId}/credits`, { amount_usd: '-10' });
    expectError(await chatOf(account, 0.3 * megabyte), full('this account'));
    expect((await chatOf(account)).status).toBe(429);
  });

  it('counts bodies of the control plane and of explain too, and never a request without a body', async () => {
    const account = await bench.gateway.createAccount();
    const { key } = account;
    await stall(account, 1.95 * megabyte);
    const chain = { models: Array.from({ length: 10_000 }, () => 'acme/meta/llama') };
    const refused = await bench.gateway.call('PUT', '/v1/fallback', chain, { key });
    expectError(refused, full('this account'));
    expect(refused.headers.connection).toBe('close');
    const explained = ask({ messages: [{ role: 'user', content: 'x'.repeat(200_000) }] });
    expectError(await bench.gateway.call('POST', '/v1/routes/explain', explained, { key }), full('this account'));
    expect((await bench.gateway.call('GET', '/v1/models', undefined, { key })).status).toBe(200);
    expect((await bench.gateway.admin('GET', '/accounts')).status).toBe(200);
  });
});
