import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatCatalogue } from '../api/catalogue.js';
import { ask, llama } from '../api/harness.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { completion, json, type ScriptedUpstream, sse, startUpstream, streamOf } from '../support/scripted-upstream.js';

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());

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

describe('the log', () => {
  let gateway: SpawnedGateway;
  beforeAll(async () => {
    gateway = await spawnGateway({ catalogue: chatCatalogue(upstream.url) });
  });
  afterAll(() => gateway?.stop());

  it('has a line for each chat that ends in a 5xx, with the id of its answer, its code, and the outcome on each route', async () => {
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

  it('has a line for a stream that breaks off, and none for what went well or was refused', async () => {
    upstream.enqueue(sse(streamOf(['a', 'b']), { cutAfter: 2, cutWith: 'reset' }), json(completion()));
    const broken = await gateway.stream(ask());
    const served = await gateway.chat(ask());
    const refused = await gateway.chat(ask({ temperature: 9 }));
    expect(await linesOf(gateway, broken.headers['x-request-id'])).toMatchObject([
      { outcome: 'broken', stream_end: 'cut', route: llama },
    ]);
    for (const { headers } of [served, refused]) expect(await linesOf(gateway, headers['x-request-id'], 0)).toEqual([]);
  });
});

it('LODESTONE_LOG_LEVEL=debug adds a line for every request, chats and others, with figures and no text', async () => {
  const gateway = await spawnGateway({
    catalogue: chatCatalogue(upstream.url),
    env: { LODESTONE_LOG_LEVEL: 'debug' },
  });
  try {
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
  } finally {
    await gateway.stop();
  }
});
