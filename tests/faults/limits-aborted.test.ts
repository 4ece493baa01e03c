/** Requests that are given up at any point leave no connection taken, and only those that a provider was asked for leave tokens taken. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { scrape } from '../observability/scrape.js';
import type { Json, TestAccount } from '../support/client.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { ManualClock } from '../support/manual-clock.js';
import { requestBytes } from '../support/raw-http.js';
import { hang, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { ask, pin, scaled } from './fixture.js';

const each = scaled(125, 1_250);
const atOnce = 125;
const tokensPerMinute = 10_000_000;

const clock = new ManualClock();
const warnings: { fields: Json; message: string }[] = [];
const logger = {
  ...silentLogger,
  warn: (fields: object, message: string) => void warnings.push({ fields: fields as Json, message }),
};
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let account: TestAccount;
let request: Buffer;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    clock,
    logger,
    catalogue: catalogueOf({ acme: upstream.url }),
    config: { limits: { key_requests_per_minute: 100_000, key_tokens_per_minute: tokensPerMinute } },
  });
  account = await gateway.createAccount();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${account.key}` };
  request = requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask({ x: 'x'.repeat(4_000) })));
  upstream.reply(hang());
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Sends the bytes on many connections, and disconnects from all of them when `until` resolves. */
async function abortMany(bytes: Buffer, until: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < each; done += atOnce) {
    upstream.calls.length = 0;
    const sockets = await Promise.all(Array.from({ length: atOnce }, open));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.write(bytes, resolve))));
    await until();
    // Both ways in which callers leave: their program ends, or their system forgets them.
    for (const [index, socket] of sockets.entries()) index % 2 ? socket.destroy() : socket.resetAndDestroy();
  }
}

const aMoment = () => new Promise((resolve) => setImmediate(resolve));

async function remaining(what: 'requests' | 'tokens'): Promise<number> {
  const { headers } = await gateway.call('GET', '/v1/key', undefined, { key: account.key });
  return Number(headers[`x-ratelimit-remaining-${what}`]);
}

describe(`${4 * each} requests that are given up`, () => {
  const headEnd = () => request.indexOf('\r\n\r\n') + 4;

  it.each<[string, () => Buffer]>([
    ['in the head', () => request.subarray(0, headEnd() - 20)],
    ['before the body', () => request.subarray(0, headEnd())],
    ['in the body', () => request.subarray(0, headEnd() + 2_000)],
  ])('%s: no tokens are taken', { timeout: 180_000 }, async (_, bytes) => {
    await abortMany(bytes(), aMoment);
    await expect.poll(() => remaining('tokens'), { timeout: 60_000 }).toBe(tokensPerMinute);
    expect(upstream.calls).toHaveLength(0);
  });

  it('while the provider works: their prompts stay taken, are counted, and the operator learns whose they are', async () => {
    await abortMany(request, () => upstream.waitFor(() => upstream.calls.length >= atOnce));
    const left = async () =>
      (await scrape(gateway)).get(`lodestone_left_before_content_total{account="${account.accountId}"}`);
    await expect.poll(left, { timeout: 60_000 }).toBe(each);
    await upstream.waitFor(() => upstream.calls.every(({ aborted }) => aborted));
    const taken = tokensPerMinute - (await remaining('tokens'));
    // 4,000 characters and what is around them, in each of them.
    expect(taken / each).toBeGreaterThan(1_000);
    expect(taken / each).toBeLessThan(1_050);
    expect(taken % each).toBe(0);
    const shown = await gateway.admin('GET', `/activity?account=${account.accountId}&group_by=status`);
    expect(shown.json.data).toEqual([expect.objectContaining({ group: '499', requests: each })]);
    const told = warnings.filter(({ message }) => message.includes('before the first content'));
    expect(told.map(({ fields }) => fields)).toEqual([{ account: account.accountId, requests: 100, route: pin }]);
  }, 180_000);

  it('the next window has the whole allowance: exactly the limit is admitted, and the account is billed nothing', async () => {
    clock.advance(60_000);
    await gateway.admin('PATCH', `/accounts/${account.accountId}`, { limits: { requests_per_minute: 100 } });
    const calls = Array.from({ length: 300 }, () =>
      gateway.call('GET', '/v1/credits', undefined, { key: account.key }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(200);
    expect(await remaining('tokens')).toBe(tokensPerMinute);
    expect(await gateway.balance(account.accountId)).toBe('10');
  });
});
