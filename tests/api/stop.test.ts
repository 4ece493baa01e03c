/** A stop bills the streams that it cuts for exactly what was sent, to the token. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { RawConnection } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';

let upstream: up.ScriptedUpstream;
let gateway: SpawnedGateway;
beforeAll(async () => {
  upstream = await up.startUpstream();
  gateway = await spawnGateway({
    config: { server: { drain: '300ms' }, timeouts: { stream_idle: '30s', overall: '30s' } },
    catalogue: catalogueOf({ acme: upstream.url }),
  });
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const prompt = 'Say hello.';
const ask = { model: 'acme/meta/llama-3.3-70b/defra', messages: [{ role: 'user', content: prompt }] };

it('SIGTERM: a stream that outlives the drain time is counted and settled before the process ends with 0', async () => {
  const account = await gateway.createAccount();
  const text = ' delivered'.repeat(40);
  upstream.reply(async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(up.frameText(up.chunk({ content: text })));
    await exchange.closed;
  });
  const streams = Array.from({ length: 5 }, () => gateway.stream(ask, { key: account.key }));
  await upstream.waitForCalls(5);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  for (const { content } of await Promise.all(streams)) expect(content).toBe(text);
  await gateway.restart();
  const { json } = await gateway.call('GET', '/v1/generations', undefined, { key: account.key });
  const promptTokens = 3 + 3 + countTokens('user') + countTokens(prompt);
  const record = { stream_end: 'client_closed', prompt_tokens: promptTokens, completion_tokens: countTokens(text) };
  expect(json.data).toEqual(Array.from({ length: 5 }, () => expect.objectContaining(record)));
}, 180_000);

it('SIGTERM: a stop waits for running answers alone, not for requests that have not fully arrived', async () => {
  const patient = await spawnGateway({
    config: { server: { drain: '25s' }, timeouts: { stream_idle: '30s', overall: '30s' } },
    catalogue: catalogueOf({ acme: upstream.url }),
  });
  const { key } = await patient.createAccount();
  const held = { letGo: () => {} };
  upstream.reply(async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(up.frameText(up.chunk({ content: 'before' })));
    await new Promise<void>((resolve) => {
      held.letGo = resolve;
    });
    await exchange.write(up.streamOf([' after'], { roleChunk: false }).map(up.frameText).join(''));
    exchange.close('fin');
  });
  const running = patient.stream(ask, { key });
  await upstream.waitForCalls(1);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
  const length = (bytes: number) => `${head}content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n{"a`;
  const control = length(5_000).replace('POST /v1/chat/completions', 'PUT /v1/fallback');
  const unfinished = [head, length(5_000), length(5_000_000), control];
  const connections = await Promise.all(
    Array.from({ length: 48 }, async (_, at) => {
      const connection = await RawConnection.open(patient.url);
      await connection.write(unfinished[at % unfinished.length]!);
      return connection;
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  patient.signal('SIGTERM');
  const answers = await Promise.all(connections.map((connection) => connection.readUntil(() => false, 5_000)));
  for (const [at, { closedByPeer, status, json, headers }] of answers.entries()) {
    expect([at, closedByPeer]).toEqual([at, true]);
    if (at % unfinished.length === 0) continue;
    expect([status, headers.connection, json]).toMatchObject([
      503,
      'close',
      { error: { code: 'service_unavailable' } },
    ]);
  }
  const stoppedAt = performance.now();
  held.letGo();
  expect((await running).content).toBe('before after');
  expect(await patient.exited()).toEqual({ code: 0, signal: null });
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  for (const connection of connections) connection.close();
  await patient.stop();
}, 180_000);
