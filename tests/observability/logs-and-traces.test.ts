/** The log and the traces of a gateway in a process of its own, with collectors that answer, are silent, or are not there. */

import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chatCatalogue } from '../api/catalogue.js';
import { ask, llama, messages } from '../api/harness.js';
import { freePort } from '../support/free-port.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { measuredTime } from '../support/measured-time.js';
import { scaled } from '../support/scaled.js';
import {
  completion,
  json,
  type ScriptedUpstream,
  sse,
  startUpstream,
  streamOf,
  usage,
} from '../support/scripted-upstream.js';
import { makeSecretsKey } from '../support/secrets-key.js';
import { type Collector, type ReceivedSpan, startCollector } from './otlp.js';

const spanId = '00f067aa0ba902b7';
const [server, client] = [2, 3];
/** Each leaves two spans, so that they are more than the queue holds. */
const count = scaled(40, 200);

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.reset());
afterAll(() => upstream.stop());

/** Started for a group of tests, and again where a test that failed has left it stopped. */
function useGateway(env: () => Record<string, string>): () => Promise<SpawnedGateway> {
  let gateway: SpawnedGateway | undefined;
  afterAll(() => gateway?.stop());
  return async () => {
    gateway ??= await spawnGateway({
      catalogue: chatCatalogue(upstream.url),
      config: { secrets: { key_file: makeSecretsKey() } },
      env: env(),
    });
    if (!(await gateway.serves())) await gateway.restart();
    return gateway;
  };
}

function useCollector(options: { silent?: boolean } = {}): () => Collector {
  let collector: Collector;
  beforeAll(async () => {
    collector = await startCollector(options);
  });
  afterAll(() => collector?.stop());
  return () => collector;
}

/** Requests of a test as a trace of their own, and what has come of it. */
function newTrace(collected: Collector) {
  const traceId = randomBytes(16).toString('hex');
  const headers = { traceparent: `00-${traceId}-${spanId}-01` };
  return { traceId, headers, spans: () => collected.spans.filter((span) => span.traceId === traceId) };
}

describe('a collector that answers', () => {
  const collector = useCollector();
  const started = useGateway(() => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector().url,
    OTEL_SERVICE_NAME: 'edge',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one',
    // As many as a chat with two attempts has are exported at once; fewer wait, here until the stop.
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  }));

  it('a chat is a trace: the caller’s own goes on, with one span a request and one an attempt, and no word of it', async () => {
    const collected = collector();
    const gateway = await started();
    const { traceId, headers, spans } = newTrace(collected);
    const { key, keyId, accountId } = await gateway.account();
    upstream.enqueue(json({ error: { message: 'no' } }, { status: 500 }), json(completion({ usage: usage(100, 20) })));
    const reply = await gateway.chat(ask({ model: 'auto/meta/llama' }), { headers });
    expect(reply.status, reply.text).toBe(200);
    await expect.poll(() => spans().length).toBe(3);
    const request = spans().find(({ kind }) => kind === server) as ReceivedSpan;
    const attempts = spans().filter(({ kind }) => kind === client);
    expect(request).toMatchObject({
      traceId,
      parentSpanId: spanId,
      name: 'chat auto/meta/llama',
      resource: {
        'service.name': 'edge',
        'deployment.environment.name': 'test',
        'service.version': expect.any(String),
      },
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
    const gateway = await started();
    const { headers, spans } = newTrace(collector());
    await gateway.chat(ask({ model: 'nobody/has/this' }), { headers });
    await gateway.chat(ask(), { key: null, headers });
    expect((await gateway.kill('SIGTERM')).code).toBe(0);
    expect(spans().map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['chat', 'not_found'],
      ['chat', 'authentication_error'],
    ]);
  });
});

/** A queue that the requests of a test fill. */
const smallQueue = {
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_BSP_MAX_QUEUE_SIZE: '64',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '32',
};

async function expectUnharmed(gateway: SpawnedGateway): Promise<void> {
  const told = () => gateway.output.stderr.split('traces cannot be exported').length - 1;
  const toldBefore = told();
  await gateway.account();
  const startedAt = performance.now();
  const replies = await Promise.all(Array.from({ length: count }, () => gateway.chat(ask({ model: llama }))));
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 200));
  expect(performance.now() - startedAt, measuredTime).toBeLessThan(10_000);
  const stoppedAt = performance.now();
  expect((await gateway.kill('SIGTERM')).code).toBe(0);
  expect(performance.now() - stoppedAt, measuredTime).toBeLessThan(15_000);
  // It is told at most once a minute, and all of this takes less.
  expect(told() - toldBefore).toBeLessThanOrEqual(1);
}

describe('a collector at which nobody answers', () => {
  const collector = useCollector({ silent: true });
  const started = useGateway(() => ({ ...smallQueue, OTEL_EXPORTER_OTLP_ENDPOINT: collector().url }));

  it('the log has a line for each chat that ends in a 5xx, with the id of its answer, its code, and the outcome on each route', async () => {
    const gateway = await started();
    // What a provider says may quote the prompt, so the log does not repeat it.
    upstream.enqueue(json({ error: { message: 'words of a provider' } }, { status: 500 }));
    const reply = await gateway.chat(ask());
    expect(reply.status).toBe(503);
    const lines = await linesOf(gateway, reply.headers['x-request-id']);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 40,
        outcome: 'failed',
        status: 503,
        code: 'provider_error',
        condition: 'provider_error',
        model: llama,
        attempts: [{ route: llama, outcome: 'server_error', status: 500 }],
        duration_ms: expect.any(Number),
      }),
    ]);
    expect(gateway.output.stderr).not.toContain('words of a provider');
  });

  it('the log has a line for a stream that breaks off, and none for what went well or was refused', async () => {
    const gateway = await started();
    upstream.enqueue(sse(streamOf(['a', 'b']), { cutAfter: 2, cutWith: 'reset' }), json(completion()));
    const broken = await gateway.stream(ask());
    const served = await gateway.chat(ask());
    const refused = await gateway.chat(ask({ temperature: 9 }));
    expect(await linesOf(gateway, broken.headers['x-request-id'])).toMatchObject([
      { outcome: 'broken', stream_end: 'cut', route: llama },
    ]);
    for (const { headers } of [served, refused]) expect(await linesOf(gateway, headers['x-request-id'], 0)).toEqual([]);
  });

  it('a customer’s credential that is refused has a line once, and the others of the hour none', async () => {
    const gateway = await started();
    const { key, accountId } = await gateway.account();
    const secret = { api_key: 'a-key-of-a-customer-0123456789' };
    const made = await gateway.admin('POST', `/accounts/${accountId}/credentials`, {
      ...{ provider: 'keyed', name: 'ours', secret },
    });
    const model = 'keyed/meta/llama/defra';
    const replies = [];
    for (const status of [401, 403, 500]) {
      upstream.enqueue(json({ error: { message: 'no' } }, { status }));
      replies.push(await gateway.chat(ask({ model }), { key }));
    }
    const [first, again, broken] = replies.map(({ headers }) => headers['x-request-id']);
    expect(await linesOf(gateway, first)).toMatchObject([
      { attempts: [{ route: model, credential: made.json.id, outcome: 'auth', status: 401 }] },
    ]);
    // A failure of the provider is no matter of the credential.
    expect(await linesOf(gateway, broken)).toMatchObject([{ attempts: [{ outcome: 'server_error' }] }]);
    expect(await linesOf(gateway, again, 0)).toEqual([]);
  });

  it('a collector at which nobody answers costs no request, and keeps nobody from a clean stop', async () =>
    expectUnharmed(await started()));
});

describe('a collector at which nobody listens', () => {
  let endpoint: string;
  beforeAll(async () => {
    endpoint = `http://127.0.0.1:${await freePort()}`;
  });
  const started = useGateway(() => ({
    ...{ ...smallQueue, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, LODESTONE_LOG_LEVEL: 'debug' },
  }));

  it('LODESTONE_LOG_LEVEL=debug adds a line for every request, chats and others, with figures and no text', async () => {
    const gateway = await started();
    upstream.enqueue(json(completion()));
    const chat = await gateway.chat(ask());
    const models = await gateway.call('GET', '/v1/models?q=secret-of-a-query');
    expect(await linesOf(gateway, chat.headers['x-request-id'])).toMatchObject([
      {
        level: 20,
        outcome: 'ok',
        status: 200,
        route: llama,
        generation_id: chat.json.id,
        cost_usd: chat.json.usage.cost,
      },
    ]);
    expect(await linesOf(gateway, models.headers['x-request-id'])).toMatchObject([
      { level: 20, endpoint: 'GET /v1/models', outcome: 'ok', status: 200, duration_ms: expect.any(Number) },
    ]);
    expect(gateway.output.stderr).not.toContain('secret-of-a-query');
  });

  it('a collector at which nobody listens costs no request, and keeps nobody from a clean stop', async () =>
    expectUnharmed(await started()));
});

type Line = Record<string, unknown> & { msg: string };

/** Lines that carry the id, once at least `count` of them have come. */
async function linesOf(gateway: SpawnedGateway, requestId: unknown, count = 1): Promise<Line[]> {
  const found = () =>
    gateway.output.stderr
      .split('\n')
      .filter((line) => line.includes(`"request_id":"${requestId}"`))
      .map((line) => JSON.parse(line) as Line);
  for (const end = performance.now() + 5_000; found().length < count && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 20));
  return found();
}
