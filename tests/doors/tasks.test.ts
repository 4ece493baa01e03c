import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { shortTimeouts } from '../support/gateway-files.js';
import { hang, json } from '../support/scripted-upstream.js';
import { type Asked, answerTo, fails, taskDoors, useTaskDoors } from './task-gateway.js';

const bench = useTaskDoors({ timeouts: shortTimeouts });
const balanceOf = async (key: string): Promise<string> =>
  (await bench.gateway.call('GET', '/v1/credits', undefined, { key })).json.data.balance_usd;

describe.each(taskDoors.map((door) => [door.name, door] as const))('%s', (_, door) => {
  const { path, ask, name } = door;
  const pin = `plain/acme/one-${name}/defra`;
  const post = (body: unknown, options = {}) => bench.gateway.call('POST', path, body, options);

  it('answers, billed exactly once, with a receipt and a record', async () => {
    const { key } = await bench.gateway.createAccount();
    const reply = await post(ask(pin), { key });
    expect(reply.status, reply.text).toBe(200);
    expect(door.resultsOf(reply)).toHaveLength(2);
    expect(reply.json).toMatchObject({
      object: 'list',
      model: pin,
      usage: { prompt_tokens: door.tokens, total_tokens: door.tokens, cost: (door.tokens * 3) / 1e6 },
      router_metadata: { served_model: pin, generation_id: reply.headers['x-generation-id'] },
    });
    expect(bench.upstream.calls).toMatchObject([
      { path: name === 'rerank' ? '/v1/rerank' : '/v1/embeddings', json: { model: 'upstream-model' } },
    ]);
    expect(await balanceOf(key)).toBe('9.99997');
    const id = reply.headers['x-generation-id'];
    const { json: generation } = await bench.gateway.call('GET', `/v1/generation/${id}`, undefined, { key });
    expect(generation.data ?? generation).toMatchObject({
      ...{ id, door: name, served_model: pin, prompt_tokens: door.tokens, completion_tokens: 0 },
      ...{ usage_source: 'provider', finish_reason: null, streamed: false },
    });
  });

  it('counts the tokens where the provider does not', async () => {
    bench.upstream.onRequest(({ json: asked }) => json(answerTo(asked as Asked, { usage: undefined })));
    const reply = await post(ask(pin));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.usage.prompt_tokens).toBeGreaterThan(0);
    expect(reply.json.usage.prompt_tokens).toBeLessThan(10);
  });

  it('401 without a key, 402 without credit, and no upstream is called', async () => {
    expect(await post(ask(pin), { key: null })).toMatchObject({ status: 401 });
    const { key } = await bench.gateway.createAccount({ credit: null });
    expect(await post(ask(pin), { key })).toMatchObject({
      status: 402,
      json: { error: { code: 'insufficient_credits' } },
    });
    const spent = await bench.gateway.createAccount();
    await bench.gateway.admin('PATCH', `/accounts/${spent.accountId}`, { budget: { limit_usd: '0' } });
    expect(await post(ask(pin), { key: spent.key })).toMatchObject({
      status: 402,
      json: { error: { type: 'invalid_request_error', code: 'budget_exceeded' } },
    });
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('429 past the tokens a minute of the account', async () => {
    const { key, accountId } = await bench.gateway.createAccount();
    const limits = { requests_per_minute: 50, tokens_per_minute: 20 };
    expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { limits })).status).toBe(200);
    const replies = [await post(ask(pin), { key }), await post(ask(pin), { key }), await post(ask(pin), { key })];
    expect(replies.map(({ status }) => status)).toContain(429);
  });

  it('504 where the provider is silent for too long', async () => {
    bench.upstream.enqueue(hang());
    expect(await post(ask(`spare/acme/pin-${name}`))).toMatchObject({
      status: 504,
      json: { error: { code: 'provider_timeout' } },
    });
  });

  it('404 for a model that nobody offers; 400 for one that another door serves, both ways', async () => {
    expect(await post(ask('plain/acme/none'))).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    const wrong = (param: string, door: string) => ({
      status: 400,
      json: { error: { type: 'invalid_request_error', param, message: expect.stringContaining(door) } },
    });
    expect(await post(ask('plain/acme/chat'))).toMatchObject(wrong('model', '/v1/chat/completions'));
    const own = name === 'rerank' ? 'documents' : 'input';
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(await bench.gateway.chat({ model: pin, messages })).toMatchObject(wrong('model', path));
    expect(await post({ model: pin, messages })).toMatchObject(wrong(own, '/v1/chat/completions'));
    expect(await bench.gateway.chat(ask(pin))).toMatchObject(wrong('messages', path));
  });

  it('a pin is never served by another route; auto walks the routes of its model, and the receipt says so', async () => {
    bench.upstream.enqueue(fails);
    expect(await post(ask(`plain/acme/pin-${name}`))).toMatchObject({
      status: 503,
      json: { error: { code: 'provider_error' } },
    });
    expect(bench.upstream.calls).toHaveLength(1);
    bench.upstream.enqueue(fails);
    const served = await post(ask(`auto/acme/walk-${name}`));
    expect(served.json.router_metadata, served.text).toMatchObject({
      served_model: `spare/acme/walk-${name}/defra`,
      fallback_occurred: true,
      providers_attempted: ['plain', 'spare'],
    });
  });

  it('403 where the policy leaves no route; explain says the same', async () => {
    const { key } = await bench.gateway.createAccount();
    const policy = { providers: { deny: ['plain', 'spare'] } };
    expect((await bench.gateway.call('PUT', '/v1/routing-policy', policy, { key })).status).toBe(200);
    const asked = ask(`auto/acme/policy-${name}`);
    expect(await post(asked, { key })).toMatchObject({
      status: 403,
      json: { error: { code: 'routing_policy_exhausted' } },
    });
    const explain = (body: Json, options = {}) =>
      bench.gateway.call('POST', '/v1/routes/explain', { ...body, door: name }, options);
    expect((await explain(asked, { key })).json.error.error.code).toBe('routing_policy_exhausted');
    expect(await explain(ask(pin))).toMatchObject({ status: 200, json: { would_serve: pin } });
    expect((await explain(ask('plain/acme/chat'))).json.error.error.param).toBe('model');
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('a fallback has routes of the same model only, and the saved chain does not apply', async () => {
    const { key } = await bench.gateway.createAccount();
    const own = `plain/acme/chain-${name}/defra`;
    const other = ask(own, { fallback: { models: [pin] } });
    expect(await post(other, { key })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_fallback_model', param: 'fallback.models' } },
    });
    const saved = await bench.gateway.call('PUT', '/v1/fallback', { fallback: { models: [pin] } }, { key });
    expect(saved).toMatchObject({ status: 400, json: { error: { code: 'invalid_fallback_model' } } });
    await bench.gateway.call('PUT', '/v1/fallback', { fallback: { models: ['plain/acme/chat'] } }, { key });
    bench.upstream.enqueue(fails);
    expect(await post(ask(own), { key })).toMatchObject({ status: 503 });
    bench.upstream.enqueue(fails);
    const served = await post(ask(own, { fallback: { models: [`spare/acme/chain-${name}`] } }), { key });
    expect(served.json.model, served.text).toBe(`spare/acme/chain-${name}/defra`);
  });

  it('an alias of the saved chain that was given a model of this kind is skipped by chats', async () => {
    const { key } = await bench.gateway.createAccount();
    const alias = { name: 'next', target: 'plain/acme/chat/defra' };
    expect((await bench.gateway.call('POST', '/v1/aliases', alias, { key })).status).toBeLessThan(300);
    const chain = { fallback: { models: ['alias/next'] } };
    expect((await bench.gateway.call('PUT', '/v1/fallback', chain, { key })).status).toBe(200);
    const moved = await bench.gateway.call('PATCH', '/v1/aliases/next', { target: pin }, { key });
    expect(moved.status, moved.text).toBe(200);
    bench.upstream.enqueue(fails);
    const chat = { model: 'plain/acme/chat', messages: [{ role: 'user', content: 'Hi' }] };
    expect(await bench.gateway.chat(chat, { key })).toMatchObject({ status: 503 });
    expect(bench.upstream.calls.map((call) => call.path)).toEqual(['/v1/chat/completions']);
  });

  it('a caller that leaves before its answer pays nothing, and the upstream is told', async () => {
    const { key } = await bench.gateway.createAccount();
    const { upstream } = bench;
    upstream.enqueue(json(answerTo(ask(pin) as Asked), { delayMs: 30_000 }));
    const leaving = new AbortController();
    const leave = post(ask(`plain/acme/gone-${name}`), { key, signal: leaving.signal }).catch(() => null);
    await upstream.waitForCalls(1, 20_000);
    leaving.abort();
    await leave;
    await upstream.waitFor(() => upstream.calls[0]!.aborted, 20_000);
    expect(await balanceOf(key)).toBe('10');
  });

  it('a body that is not JSON, has no model, or has a field of another API is refused', async () => {
    for (const body of ['{', ask(''), ask(pin, { stream: true }), ask(pin, { encoding_type: 'x' })]) {
      expect(await post(body)).toMatchObject({ status: 400, json: { error: { code: 'invalid_request_error' } } });
    }
    let deep: unknown = 'x';
    for (let level = 0; level < 128; level++) deep = [deep];
    expect(await post(ask(pin, { provider: deep }))).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining('deeper than 128 levels') } },
    });
    expect(await post(ask(pin, { temperature: 1 }))).toMatchObject({ json: { error: { param: 'temperature' } } });
    expect((await post(ask(pin, { fallback: null, session_id: 'x' }))).status).toBe(200);
  });
});
