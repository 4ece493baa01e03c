/** One charge for one answer: no request is sent twice for one click, no answer is billed twice, no failure leaves a trace in the ledger. */
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayClient, type TestAccount } from '../support/client.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';
import {
  ask,
  costOf,
  countedCost,
  expectBooks,
  expectError,
  expectServes,
  pause,
  providerError,
  type Rig,
  scaled,
  startRig,
} from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  account = await rig.gateway.createAccount();
});
const chat = (more = {}) => rig.gateway.chat(ask(more), { key: account.key });

it('of mixed answers, resets and cuts every answered request has one row, and no other has any', async () => {
  const count = scaled(100, 2_000);
  const random = new SeededRandom(9);
  const outcomes = [
    { script: up.json(up.completion({ usage: up.usage(9, 3) })), cost: costOf(9, 3), status: 200 },
    { script: up.sse(up.streamOf([' a', ' b'], { usage: up.usage(9, 2) })), cost: costOf(9, 2), status: 200 },
    {
      script: up.sse(up.streamOf([' a', ' b']), { cutAfter: 2, cutWith: 'reset' }),
      cost: countedCost(' a'),
      status: 200,
    },
    { script: up.reset(), cost: null, status: 503 },
    { script: up.json({ error: { message: 'broken' } }, { status: 500 }), cost: null, status: 503 },
    {
      script: up.rawBytes(['HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"id":'], { end: 'reset' }),
      cost: null,
      status: 503,
    },
  ] as const;
  const costs: bigint[] = [];
  rig.upstream.onRequest((call) => outcomes[Number((call.json as { seed: string }).seed)]!.script);
  const one = async () => {
    const which = random.below(outcomes.length);
    const { status } = await chat({ seed: String(which), stream: which === 1 || which === 2 });
    return { which, status };
  };
  for (let sent = 0; sent < count; sent += 50) {
    for (const { which, status } of await Promise.all(Array.from({ length: 50 }, one))) {
      expect([which, status]).toEqual([which, outcomes[which]!.status]);
      const { cost } = outcomes[which]!;
      if (cost !== null) costs.push(cost);
    }
  }
  await expectBooks(rig.gateway, account, { records: count, costs });
  expect(rig.upstream.calls).toHaveLength(count);
  await expectServes(rig);
});

describe('requests that may have reached the upstream', () => {
  it.each([false, true])(
    'a pin whose upstream resets after it read the body is sent once and ends in 503 (stream: %s)',
    async (stream) => {
      rig.upstream.reply(up.reset());
      expect(expectError(await chat({ stream }), providerError)).toMatch(
        /^The provider acme failed: the connection failed/,
      );
      await pause(100);
      expect(rig.upstream.calls).toHaveLength(1);
      expect(rig.other.calls).toHaveLength(0);
      await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      await expectServes(rig);
    },
  );

  it('a reset on a kept connection is not answered with a second POST either', async () => {
    let rounds = 0;
    for (const script of [up.reset(), up.rawBytes([], { end: 'close' }), up.reset('before-body')]) {
      // After a reset the gateway keeps idle connections of this upstream for a shorter time. On a busy machine the second request may
      // come later than that and get a connection of its own: such a round says nothing, and is repeated.
      for (let kept = false; !kept; rounds++) {
        rig.upstream.reset();
        rig.upstream.enqueue(up.json(up.completion()), script);
        expect((await chat()).status).toBe(200);
        expectError(await chat(), providerError);
        await pause(50);
        expect(rig.upstream.calls).toHaveLength(2);
        kept = rig.upstream.calls[1]!.connectionId === rig.upstream.calls[0]!.connectionId;
      }
    }
    const costs = Array.from({ length: rounds }, () => costOf(9, 3));
    await expectBooks(rig.gateway, account, { records: 2 * rounds, costs });
  });

  it('a connection that the upstream closed while it was idle costs the next request nothing', async () => {
    rig.upstream.enqueue(async (exchange) => {
      await up.json(up.completion())(exchange);
      await exchange.sleep(30);
      exchange.socket.resetAndDestroy();
    });
    expect((await chat()).status).toBe(200);
    await pause(80);
    expect((await chat()).status).toBe(200);
    expect(rig.upstream.calls).toHaveLength(2);
    await expectBooks(rig.gateway, account, { records: 2, costs: [costOf(9, 3), costOf(9, 3)] });
  });
});

describe('answers that are lost on their way', () => {
  /** Takes answers from the gateway whole and drops the first of them, as a broken proxy does. */
  async function droppingProxy(): Promise<{ url: string; dropped: string[]; server: Server }> {
    const dropped: string[] = [];
    const { hostname, port } = new URL(rig.gateway.url);
    const server = createServer((caller) => {
      const gateway = connect({ host: hostname, port: Number(port) });
      caller.pipe(gateway);
      caller.on('error', () => {});
      gateway.on('data', (bytes) => {
        if (dropped.length > 0) return caller.write(bytes);
        dropped.push(bytes.toString('latin1'));
        return caller.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, dropped, server };
  }

  it('a retry after a lost answer is a second charge, and both are visible under ids of their own', async () => {
    const proxy = await droppingProxy();
    const client = new GatewayClient(() => proxy.url);
    await expect(client.chat(ask(), { key: account.key })).rejects.toThrow();
    const retry = await client.chat(ask(), { key: account.key });
    expect(retry.status).toBe(200);
    const lost = /x-generation-id: (gen-\w+)/i.exec(proxy.dropped[0]!)?.[1];
    const records = await expectBooks(rig.gateway, account, { records: 2, costs: [costOf(9, 3), costOf(9, 3)] });
    expect(records.map(({ id }) => id)).toEqual([retry.json.id, lost]);
    for (const record of records)
      expect(record).toMatchObject({ status: 200, key_name: 'test', cost_usd: '0.0000078' });
    await client.close();
    proxy.server.close();
  });
});

it('failures and uploads that are broken off leave the balance as it was, and the next call is served', async () => {
  const rounds = scaled(4, 84);
  const faults = [
    up.reset(),
    up.reset('before-body'),
    up.json({ error: { message: 'no' } }, { status: 500 }),
    up.json('not json'),
    up.sse([], { noDone: true }),
  ];
  const headers = {
    authorization: `Bearer ${account.key}`,
    'content-type': 'application/json',
    'content-length': '5000',
  };
  for (let round = 0; round < rounds; round++) {
    rig.upstream.enqueue(...faults);
    const replies = await Promise.all(faults.map((_, index) => chat({ stream: index === 4 })));
    for (const reply of replies) expect(reply.status).toBe(503);
    const connection = await RawConnection.open(rig.gateway.url);
    await connection.write(requestBytes('POST', '/v1/chat/completions', headers, '{"model":"'));
    connection.reset();
  }
  const records = await expectBooks(rig.gateway, account, { records: rounds * 5, costs: [] });
  for (const record of records) expect(record).toMatchObject({ status: 503, cost_usd: '0' });
  expect(await rig.gateway.balance(account.accountId)).toBe('10');
  expect((await chat()).status).toBe(200);
  await expectBooks(rig.gateway, account, { records: rounds * 5 + 1, costs: [costOf(9, 3)] });
});
