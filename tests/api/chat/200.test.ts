import { describe, expect, it } from 'vitest';
import { expectWithin } from '../../faults/fixture.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, generation, llama, useGateway } from '../harness.js';

const bench = useGateway();

describe('the body of a 200', () => {
  it("is OpenAI's chat.completion with our id, the four-segment model, the cost and the receipt, and nothing else", async () => {
    const { gateway, upstream } = bench;
    upstream.reply(json(completion({ content: 'Hello there.', usage: usage(9, 3) })));
    const before = Math.floor(Date.now() / 1000);
    const reply = await gateway.chat(ask());
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      id: expect.stringMatching(/^gen-[0-9a-z]{26}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: llama,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there.', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      system_fingerprint: null,
      usage: {
        ...usage(9, 3),
        cost: 0.0000078,
        cost_details: {
          input: '0.0000054',
          output: '0.0000024',
          upstream_inference_cost: 0.0000078,
          upstream_inference_prompt_cost: 0.0000054,
          upstream_inference_completions_cost: 0.0000024,
        },
      },
      router_metadata: {
        requested_model: llama,
        served_model: llama,
        provider: 'acme',
        creator: 'meta',
        model: 'llama',
        locode: 'defra',
        country: 'DE',
        providers_attempted: ['acme'],
        fallback_occurred: false,
        breaker_skipped: [],
        alias: null,
        carbon: 344,
        cloud_act: true,
        credential: { id: null, owner: 'operator' },
        request_policy: false,
        sticky: false,
        name: null,
        defaults: [],
        receipt: expect.stringMatching(/^gen-/),
      },
    });
    expect(reply.json.created).toBeGreaterThanOrEqual(before);
    expect(reply.json.created).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('keeps every other member of the upstream, its details and its tool calls', async () => {
    const { gateway, upstream } = bench;
    const details = {
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }];
    upstream.reply(
      json(
        completion({
          content: null,
          finishReason: 'tool_calls',
          message: { tool_calls },
          usage: usage(9, 3, details),
          extra: { service_tier: 'default', system_fingerprint: 'fp_1', x: { deep: [1, null] } },
        }),
      ),
    );
    const { json: body } = await gateway.chat(ask());
    expect(body).toMatchObject({
      service_tier: 'default',
      system_fingerprint: 'fp_1',
      x: { deep: [1, null] },
      usage: details,
    });
    expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null, tool_calls } });
  });

  it('never shows the upstream’s own id, model, created, cost or router_metadata', async () => {
    const { gateway, upstream } = bench;
    const extra = { router_metadata: { forged: true }, id: 'chatcmpl-secret', created: 5 };
    upstream.reply(json(completion({ extra, usage: { ...usage(9, 3), cost: 99 } })));
    const reply = await gateway.chat(ask());
    expect(reply.json.usage.cost).toBe(0.0000078);
    expect(reply.text).not.toMatch(/chatcmpl|forged|upstream-model|"cost":99/);
    expect(reply.json.created).toBeGreaterThan(5);
    expect(reply.text.match(/"router_metadata"/g)).toHaveLength(1);
  });

  it('gives each answer an id of its own, sorted by time', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      ids.push((await bench.gateway.chat(ask())).json.id);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(new Set(ids).size).toBe(5);
    expect([...ids].sort()).toEqual(ids);
  });
});

describe('the headers of a 200', () => {
  it('are ours: request id, generation id, provider, locode, overhead; no other header of an upstream', async () => {
    const { gateway, upstream } = bench;
    const theirs = {
      'set-cookie': 'a=b',
      server: 'their-server',
      'openai-organization': 'org-secret',
      'retry-after': '7',
      'x-ratelimit-limit-requests': '1',
      'x-request-id': 'req_theirs',
      'x-generation-id': 'theirs',
      'cf-ray': '1',
      via: '1.1 theirs',
    };
    upstream.reply(json(completion(), { headers: theirs }));
    const { headers, json: body } = await gateway.chat(ask());
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['x-request-id']).toMatch(/^req-[0-9a-z]{26}$/);
    expect(headers['x-generation-id']).toBe(body.id);
    expect(headers['x-router-provider']).toBe('acme');
    expect(headers['x-router-locode']).toBe('defra');
    expect(headers['x-router-overhead-ms']).toMatch(/^\d+(\.\d+)?$/);
    for (const name of ['set-cookie', 'server', 'openai-organization', 'retry-after', 'cf-ray', 'via']) {
      expect(headers[name], name).toBeUndefined();
    }
    expect(JSON.stringify(headers)).not.toMatch(/theirs|org-secret/);
  });

  it('state an overhead that leaves the time of the upstream out', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(json(completion(), { delayMs: 400 }));
    const { headers } = await gateway.chat(ask());
    expectWithin(Number(headers['x-router-overhead-ms']), 200);
  });
});

describe('the generation of a 200', () => {
  it('is readable at once at /v1/generation/{id} and ?id=, with every field', async () => {
    const { gateway, upstream } = bench;
    const details = {
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    upstream.reply(json(completion({ usage: usage(9, 3, details) })));
    const started = Date.now();
    const { json: body } = await gateway.chat(ask());
    const byPath = await generation(gateway, body.id);
    expect(byPath).toEqual({
      request_policy: null,
      door: 'chat',
      service_tier: null,
      skipped: [],
      project: expect.stringMatching(/^proj-/),
      holder: null,
      end_user: null,
      usage: {
        ...{ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
        prompt_tokens_details: {
          ...{ cached_tokens: 4, cache_write_tokens: 0, cache_write_1h_tokens: 0, audio_tokens: 0, image_tokens: 0 },
        },
        completion_tokens_details: { reasoning_tokens: 2, audio_tokens: 0, image_tokens: 0 },
      },
      id: body.id,
      request_id: expect.stringMatching(/^req-/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      key_name: 'default',
      requested_model: llama,
      served_model: llama,
      provider: 'acme',
      locode: 'defra',
      streamed: false,
      status: 200,
      prompt_tokens: 9,
      completion_tokens: 3,
      cached_tokens: 4,
      reasoning_tokens: 2,
      cost_usd: '0.0000066',
      notional_usd: null,
      is_byok: false,
      credential: { id: null, owner: 'operator' },
      latency_ms: expect.any(Number),
      first_byte_ms: expect.any(Number),
      providers_attempted: ['acme'],
      fallback_occurred: false,
      finish_reason: 'stop',
      stream_end: null,
      usage_source: 'provider',
      error_code: null,
      attempts: [
        {
          provider: 'acme',
          locode: 'defra',
          outcome: 'served',
          status: 200,
          first_byte_ms: expect.any(Number),
          error: null,
        },
      ],
      cost_details: { input: '0.000003', output: '0.0000024', cache_read: '0.0000012' },
      notional_cost_details: null,
      cost_lines: [
        { name: 'cached_input', count: 4, unit: 'token', price_usd: '0.0000003', cost_usd: '0.0000012' },
        { name: 'input', count: 5, unit: 'token', price_usd: '0.0000006', cost_usd: '0.000003' },
        { name: 'output', count: 3, unit: 'token', price_usd: '0.0000008', cost_usd: '0.0000024' },
      ],
    });
    expect(Math.abs(Date.parse(byPath.created_at as string) - started)).toBeLessThan(5_000);
    const byQuery = await gateway.call('GET', `/v1/generation?id=${body.id}`);
    expect(byQuery.json).toEqual({ data: byPath });
  });

  it('counts what was delivered where the upstream gave no usage, and says so', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(json(completion({ content: 'one two three four', usage: null })));
    const { json: body } = await gateway.chat(ask());
    expect(body.usage).toMatchObject({ completion_tokens: 4, total_tokens: body.usage.prompt_tokens + 4 });
    expect(body.usage.prompt_tokens).toBeGreaterThanOrEqual(3);
    const record = await generation(gateway, body.id);
    expect(record).toMatchObject({ usage_source: 'counted', completion_tokens: 4 });
    expect(Number(record.cost_usd)).toBe(body.usage.cost);
    expect(body.usage.cost).toBeGreaterThan(0);
  });

  it('never holds prompt or answer text', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(json(completion({ content: 'canary-answer-5521' })));
    const { json: body } = await gateway.chat(ask({ messages: [{ role: 'user', content: 'canary-prompt-5521' }] }));
    expect(JSON.stringify(await generation(gateway, body.id))).not.toContain('canary');
  });
});
