/** What only a whole process shows, through every client API: territories, metrics, traces, and bills that survive a `kill -9`. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Collector, startCollector } from '../observability/otlp.js';
import { scrape, since } from '../observability/scrape.js';
import type { Json } from '../support/client.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { completion, json, type ScriptedUpstream, startUpstream, usage } from '../support/scripted-upstream.js';
import { doorCatalogue } from './door-gateway.js';
import { doorCases, upstreamsOf } from './doors.js';
import { type Asked, answerTo, taskDoors } from './task-gateway.js';

let native: ScriptedUpstream;
let plain: ScriptedUpstream;
let collector: Collector;
let gateway: SpawnedGateway;

const timeouts = { first_byte_non_streaming: '60s', first_byte_streaming: '60s', stream_idle: '60s', overall: '120s' };

beforeAll(async () => {
  [native, plain, collector] = await Promise.all([startUpstream(), startUpstream(), startCollector()]);
  gateway = await spawnGateway({
    catalogue: doorCatalogue(native.url, plain.url),
    config: { timeouts, server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'cf-ipcountry' } },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' },
  });
}, 180_000);
beforeEach(() => {
  native.reset();
  plain.reset();
  plain.onRequest(({ path, json: asked }) =>
    /embeddings|rerank/.test(path) ? json(answerTo(asked as Asked)) : json(completion({ usage: usage(10, 4) })),
  );
});
afterAll(async () => {
  await gateway?.stop();
  collector?.stop();
  await Promise.all([native?.stop(), plain?.stop()]);
});

interface AnyDoor {
  readonly name: string;
  readonly path: string;
  readonly kind: 'chat' | 'embedding' | 'rerank';
  ask(model: string, more?: Json): Json;
}

const doors: readonly AnyDoor[] = [...doorCases.map((door) => ({ ...door, kind: 'chat' as const })), ...taskDoors];
const operations = { chat: 'chat', embedding: 'embeddings', rerank: 'rerank' };
const balanceOf = async (key: string): Promise<string> =>
  (await gateway.call('GET', '/v1/credits', undefined, { key })).json.data.balance_usd;

describe.each(doors.map((door) => [door.name, door] as const))('%s', (name, { path, kind, ask }) => {
  const from = (country: string) => ({ headers: { 'cf-ipcountry': country, 'x-forwarded-for': '198.51.100.7' } });
  const legal = { status: 451, json: { error: { code: 'unavailable_for_legal_reasons' } } };

  it('451 for a sanctioned caller, and where the terms of the provider exclude it; auto takes another route', async () => {
    expect(await gateway.call('POST', path, ask(`plain/acme/${kind}`), from('IR'))).toMatchObject(legal);
    const pinned = await gateway.call('POST', path, ask(`closed/acme/placed-${kind}`), from('RU'));
    expect(pinned, pinned.text).toMatchObject(legal);
    expect(pinned.json.error.type).toBe('permission_error');
    if (name === 'messages') expect(pinned.json).toMatchObject({ type: 'error', request_id: expect.any(String) });
    expect(plain.calls).toHaveLength(0);
    const walked = await gateway.call('POST', path, ask(`auto/acme/placed-${kind}`), from('RU'));
    expect(walked.json.router_metadata, walked.text).toMatchObject({ providers_attempted: ['plain'] });
    expect((await gateway.call('POST', path, ask(`closed/acme/placed-${kind}`), from('DE'))).status).toBe(200);
  });

  it('is named in metrics, in the words of OpenTelemetry in traces, and in the record', async () => {
    const model = `plain/acme/${kind}/defra`;
    await gateway.account();
    const before = await scrape(gateway);
    const traceId = Buffer.from(`trace-of-${name}`.padEnd(16).slice(0, 16)).toString('hex');
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const reply = await gateway.call('POST', path, ask(model), { headers });
    expect(reply.status, reply.text).toBe(200);
    await expect
      .poll(async () => since(before, await scrape(gateway)), { timeout: 30_000 })
      .toMatchObject({
        [`lodestone_requests_total{endpoint="POST ${path}",outcome="ok"}`]: 1,
        [`lodestone_chat_duration_seconds_count{door="${name}",stream="false",outcome="ok"}`]: 1,
        [`lodestone_tokens_total{route="${model}",kind="prompt"}`]: 10,
      });
    const spans = () => collector.spans.filter((span) => span.traceId === traceId);
    await expect.poll(() => spans().length, { timeout: 30_000 }).toBe(2);
    const id = reply.headers['x-generation-id'];
    const [request, attempt] = spans().sort((one, other) => one.kind - other.kind);
    const operation = operations[kind];
    expect(request).toMatchObject({
      name: `${operation} ${model}`,
      attributes: {
        ...{ 'gen_ai.operation.name': operation, 'lodestone.door': name, 'url.path': path, 'http.route': path },
        ...{ 'gen_ai.request.model': model, 'gen_ai.response.model': model, 'gen_ai.response.id': id },
        ...{ 'gen_ai.usage.input_tokens': 10, 'gen_ai.provider.name': 'plain' },
      },
    });
    expect(attempt).toMatchObject({
      attributes: { 'gen_ai.operation.name': operation, 'gen_ai.request.model': 'upstream-model' },
    });
    const record = await gateway.call('GET', `/v1/generation/${id}`);
    expect(record.json.data).toMatchObject({ id, door: name, prompt_tokens: 10 });
  });
});

it('a kill -9 loses no answer and bills none twice: streams in flight and whole answers of every API', async () => {
  const passes = doorCases.flatMap((door) => upstreamsOf[door.name]!.map((upstream) => ({ door, upstream })));
  const streams = await Promise.all(
    passes.map(async ({ door, upstream }) => {
      const { key } = await gateway.createAccount();
      const server = upstream.server === 'native' ? native : plain;
      return { door, upstream, key, server };
    }),
  );
  const begun: Promise<unknown>[] = [];
  for (const { door, upstream, key, server } of streams) {
    const calls = server.calls.length;
    server.enqueue(upstream.stream(['Hel', 'lo ', 'there'], { hangAfter: upstream.server === 'plain' ? 3 : 5 }));
    begun.push(gateway.stream(door.ask(upstream.pin), { path: door.path, key }).catch(() => null));
    await server.waitForCalls(calls + 1, 60_000);
  }
  const wholes = await Promise.all(
    doors.map(async (door) => {
      const { key } = await gateway.createAccount();
      const reply = await gateway.call('POST', door.path, door.ask(`plain/acme/${door.kind}`), { key });
      expect(reply.status, reply.text).toBe(200);
      return { key, id: reply.headers['x-generation-id'], cost: reply.json.usage.cost as number };
    }),
  );
  // Every stream has been sent text, and so has a provisional record.
  const inFlight = async () => (await scrape(gateway)).get('lodestone_open_streams');
  await expect.poll(inFlight, { timeout: 60_000 }).toBe(streams.length);
  await gateway.kill('SIGKILL');
  await Promise.all(begun);
  await gateway.restart();
  for (const { key, id, cost } of wholes) {
    await expect.poll(async () => Number(await balanceOf(key)), { timeout: 60_000 }).toBeCloseTo(10 - cost, 12);
    const { json: record } = await gateway.call('GET', `/v1/generation/${id}`, undefined, { key });
    expect(record.data).toMatchObject({ id, status: 200 });
  }
  for (const { door, upstream, key } of streams) {
    const { json: list } = await gateway.call('GET', '/v1/generations', undefined, { key });
    expect(list.data, `${door.name} on ${upstream.pin}`).toMatchObject([{ door: door.name, streamed: true }]);
    const { cost_usd: cost, prompt_tokens: prompt, completion_tokens: completion } = list.data[0];
    expect(Number(cost)).toBeCloseTo((prompt * 3 + completion * 15) / 1e6, 12);
    expect(completion).toBeGreaterThan(0);
    expect(Number(await balanceOf(key))).toBeCloseTo(10 - Number(cost), 12);
  }
}, 180_000);
