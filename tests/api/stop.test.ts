/** What a stop owes to those whose streams it had to cut: they are billed for what they were sent, to the token (contract 1). */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';

let upstream: up.ScriptedUpstream;
let gateway: SpawnedGateway;
beforeAll(async () => {
  upstream = await up.startUpstream();
  gateway = await spawnGateway({
    config: { server: { drain: '300ms' }, timeouts: { stream_idle: '30s', overall: '30s' } },
    catalogue: catalogueOf({ acme: upstream.url }),
  });
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

it('SIGTERM: a stream that outlives the drain time is counted and settled before the process ends with 0', async () => {
  const account = await gateway.createAccount();
  const text = ' delivered'.repeat(40);
  upstream.reply(async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(up.frameText(up.chunk({ content: text })));
    await exchange.closed;
  });
  const prompt = 'Say hello.';
  const body = { model: 'acme/meta/llama-3.3-70b/defra', messages: [{ role: 'user', content: prompt }] };
  const streams = Array.from({ length: 5 }, () => gateway.stream(body, { key: account.key }));
  await upstream.waitForCalls(5);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  for (const { content } of await Promise.all(streams)) expect(content).toBe(text);
  await gateway.restart();
  const { json } = await gateway.call('GET', '/v1/generations', undefined, { key: account.key });
  const promptTokens = 3 + 3 + countTokens('user') + countTokens(prompt);
  const record = { stream_end: 'client_closed', prompt_tokens: promptTokens, completion_tokens: countTokens(text) };
  expect(json.data).toEqual(Array.from({ length: 5 }, () => expect.objectContaining(record)));
}, 60_000);
