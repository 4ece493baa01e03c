import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { chatCatalogue } from '../api/catalogue.js';
import { ask, llama, messages } from '../api/harness.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { scaled } from '../support/scaled.js';
import { completion, json, type ScriptedUpstream, startUpstream, usage } from '../support/scripted-upstream.js';
import { type Collector, type ReceivedSpan, startCollector } from './otlp.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const [server, client] = [2, 3];
/** Each leaves two spans, so that they are more than the queue holds. */
const count = scaled(80, 200);

let upstream: ScriptedUpstream;
const collectors: Collector[] = [];
const gateways: SpawnedGateway[] = [];
beforeAll(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  for (const collector of collectors.splice(0)) collector.stop();
  upstream.reset();
});
afterAll(() => upstream.stop());

async function traced(endpoint: string, env: Record<string, string> = {}): Promise<SpawnedGateway> {
  const gateway = await spawnGateway({
    catalogue: chatCatalogue(upstream.url),
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '50', ...env },
  });
  gateways.push(gateway);
  return gateway;
}

async function collector(options: { silent?: boolean } = {}): Promise<Collector> {
  const started = await startCollector(options);
  collectors.push(started);
  return started;
}

it('a chat is a trace: the caller’s own goes on, with one span a request and one an attempt, and no word of it', async () => {
  const collected = await collector();
  const gateway = await traced(collected.url, {
    OTEL_SERVICE_NAME: 'edge',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one',
  });
  const { key, keyId, accountId } = await gateway.account();
  upstream.enqueue(json({ error: { message: 'no' } }, { status: 500 }), json(completion({ usage: usage(100, 20) })));
  const headers = { traceparent: `00-${traceId}-${spanId}-01` };
  const reply = await gateway.chat(ask({ model: 'auto/meta/llama' }), { headers });
  expect(reply.status, reply.text).toBe(200);
  const spans = await collected.waitForSpans(3);
  const request = spans.find(({ kind }) => kind === server) as ReceivedSpan;
  const attempts = spans.filter(({ kind }) => kind === client);
  expect(request).toMatchObject({
    traceId,
    parentSpanId: spanId,
    name: 'chat auto/meta/llama',
    resource: { 'service.name': 'edge', 'deployment.environment.name': 'test', 'service.version': expect.any(String) },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'auto/meta/llama',
      'gen_ai.response.model': reply.json.model,
      'gen_ai.response.id': reply.json.id,
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.response.finish_reasons': ['stop'],
      'http.response.status_code': 200,
      'lodestone.request_id': reply.headers['x-request-id'],
      'lodestone.fallback_occurred': true,
      'lodestone.cost_usd': expect.closeTo(reply.json.usage.cost, 12),
    },
  });
  expect(attempts.map(({ statusCode, attributes }) => [statusCode, attributes['error.type']])).toEqual([
    [2, 'server_error'],
    [0, undefined],
  ]);
  for (const attempt of attempts) expect(attempt).toMatchObject({ traceId, parentSpanId: request.spanId });
  expect(collected.posts[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/x-protobuf', 'x-tenant': 'one' },
  });
  for (const call of upstream.calls) expect(call.headers).not.toHaveProperty('traceparent');
  const sent = Buffer.concat(collected.posts.map(({ body }) => body)).toString('latin1');
  for (const secret of [messages[0]!.content, 'Hello', key, keyId, accountId]) expect(sent).not.toContain(secret);
});

it('a refusal is a span with its code, and what is left is exported when the gateway stops', async () => {
  const collected = await collector();
  const gateway = await traced(collected.url, { OTEL_BSP_SCHEDULE_DELAY: '600000' });
  await gateway.chat(ask({ model: 'nobody/has/this' }));
  await gateway.chat(ask(), { key: null });
  expect((await gateway.kill('SIGTERM')).code).toBe(0);
  expect(collected.spans.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['chat', 'not_found'],
    ['chat', 'authentication_error'],
  ]);
});

it.each(['nobody listens', 'nobody answers'])(
  'a collector at which %s costs no request, and keeps nobody from a clean stop',
  async (how) => {
    const endpoint = how === 'nobody listens' ? await closedPort() : (await collector({ silent: true })).url;
    const gateway = await traced(endpoint, { OTEL_BSP_MAX_QUEUE_SIZE: '64', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '32' });
    await gateway.account();
    const startedAt = performance.now();
    const replies = await Promise.all(Array.from({ length: count }, () => gateway.chat(ask({ model: llama }))));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 200));
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    const stoppedAt = performance.now();
    expect((await gateway.kill('SIGTERM')).code).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(15_000);
    const told = gateway.output.stderr.split('\n').filter((line) => line.includes('traces cannot be exported'));
    expect(told.length).toBeLessThanOrEqual(1);
  },
);

async function closedPort(): Promise<string> {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await new Promise((resolve) => taken.close(resolve));
  return `http://127.0.0.1:${port}`;
}
