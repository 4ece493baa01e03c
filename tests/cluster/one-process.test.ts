/** One process without Redis: what its limits of spending admit, and what its stop lets come to its end, refuses, and bills. */

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ask, promptTokens, scaled, tokensOf } from '../faults/fixture.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { measuredTime } from '../support/measured-time.js';
import { RawConnection } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { drainSuite } from './drain-suite.js';
import { SpendRig, withDearModel } from './spend-rig.js';
import { spendSuite } from './spend-suite.js';
import { connectionsOf, DrainTime } from './worker-rig.js';

let upstream: up.ScriptedUpstream;
let gateway: SpawnedGateway;
beforeAll(async () => {
  upstream = await up.startUpstream();
  const catalogue = withDearModel(catalogueOf({ acme: upstream.url }), upstream.url);
  gateway = await spawnGateway({ embedded: true, catalogue });
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const rig = () => ({ gateway, upstream });
const drain = new DrainTime(rig);

spendSuite('one process', () => new SpendRig([gateway], upstream));

drainSuite({
  ...{ workers: 1, streamCount: scaled(20, 500), rig },
  betweenStarts: () => drain.choose('300ms'),
});

it('SIGTERM: a stream that outlives the drain time is counted and settled before the process ends with 0', async () => {
  await drain.gatewayWith('300ms');
  const account = await gateway.createAccount();
  const before = upstream.calls.length;
  const text = ' delivered'.repeat(40);
  upstream.onRequest(() => async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(up.frameText(up.chunk({ content: text })));
    await exchange.closed;
  });
  const streams = Array.from({ length: 5 }, () => gateway.stream(ask(), { key: account.key }));
  await upstream.waitForCalls(before + 5);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  for (const { content } of await Promise.all(streams)) expect(content).toBe(text);
  drain.choose('25s');
  await gateway.restart();
  const { json } = await gateway.call('GET', '/v1/generations', undefined, { key: account.key });
  const record = { stream_end: 'client_closed', prompt_tokens: promptTokens, completion_tokens: tokensOf(text) };
  expect(json.data).toEqual(Array.from({ length: 5 }, () => expect.objectContaining(record)));
}, 180_000);

it('SIGTERM: a stop waits for running answers alone, not for requests that have not fully arrived', async () => {
  await drain.gatewayWith('25s');
  const { key } = await gateway.createAccount();
  const before = upstream.calls.length;
  const held = { letGo: () => {} };
  upstream.onRequest(() => async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(up.frameText(up.chunk({ content: 'before' })));
    await new Promise<void>((resolve) => {
      held.letGo = resolve;
    });
    await exchange.write(up.streamOf([' after'], { roleChunk: false }).map(up.frameText).join(''));
    exchange.close('fin');
  });
  const running = gateway.stream(ask(), { key });
  await upstream.waitForCalls(before + 1);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
  const length = (bytes: number) => `${head}content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n{"a`;
  const control = length(5_000).replace('POST /v1/chat/completions', 'PUT /v1/fallback');
  const unfinished = [head, length(5_000), length(5_000_000), control];
  const connections = await Promise.all(
    Array.from({ length: 48 }, async (_, at) => {
      const connection = await RawConnection.open(gateway.url);
      await connection.write(unfinished[at % unfinished.length]!);
      return connection;
    }),
  );
  // A connection that it has not taken yet would be closed without an answer.
  const taken = () => connectionsOf(gateway.pid, Number(new URL(gateway.url).port));
  await vi.waitFor(() => expect(taken()).toBeGreaterThan(connections.length), { timeout: 60_000 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  gateway.signal('SIGTERM');
  const answers = await Promise.all(connections.map((connection) => connection.readUntil(() => false, 5_000)));
  for (const [at, { closedByPeer, status, json, headers }] of answers.entries()) {
    expect([at, closedByPeer]).toEqual([at, true]);
    if (at % unfinished.length === 0) continue;
    expect([at, status, headers.connection, json]).toMatchObject([
      at,
      503,
      'close',
      { error: { code: 'service_unavailable' } },
    ]);
  }
  const stoppedAt = performance.now();
  held.letGo();
  expect((await running).content).toBe('before after');
  expect(await gateway.exited()).toEqual({ code: 0, signal: null });
  expect(performance.now() - stoppedAt, measuredTime).toBeLessThan(10_000);
  for (const connection of connections) connection.close();
}, 180_000);
