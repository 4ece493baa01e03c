import { beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { streamOf, usage } from '../../support/openai-shapes.js';
import { sse } from '../../support/upstream-scripts.js';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway({ config: { registration: 'open' } });
let client: DashboardClient;
let accountId: string;
beforeAll(async () => {
  client = new DashboardClient(bench.gateway.url);
  const reply = await client.call('POST', 'sign-up', { email: 'player@example.test', password: 'correct horse 77' });
  accountId = reply.json.account.id;
});

describe('the playground', () => {
  it('402 without credit, and no upstream is called', async () => {
    const reply = await client.call('POST', 'playground/chat', ask());
    expectError(reply, { status: 402, type: 'invalid_request_error', code: 'insufficient_credits' });
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('answers as the API does, with the receipt, and is billed to the account to the last pico-dollar', async () => {
    await bench.gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '5' });
    const reply = await client.call('POST', 'playground/chat', ask());
    expect(reply.status).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    expect(reply.headers['x-generation-id']).toBe(reply.json.id);
    expect(reply.json.router_metadata).toMatchObject({ served_model: 'acme/meta/llama/defra' });
    const { cost } = reply.json.usage;
    expect(cost).toBeGreaterThan(0);
    const [entry] = (await client.call('GET', 'ledger?limit=1')).json.data;
    expect(entry).toMatchObject({ kind: 'usage', generation_id: reply.json.id });
    expect(Number(entry.amount_usd)).toBe(-cost);
    const { balance_usd } = (await client.call('GET', 'credits')).json;
    expect(balance_usd).toBe(entry.balance_usd);
    expect(await bench.gateway.balance(accountId)).toBe(balance_usd);
    expect((await client.call('GET', `v1/generation/${reply.json.id}`)).json.data).toMatchObject({
      key_name: 'playground',
      status: 200,
    });
  });

  it('streams, frame by frame, to the end', async () => {
    bench.upstream.reply(sse(streamOf(['Hello', ' there'], { usage: usage(9, 2) })));
    const body = ask({ stream: true, stream_options: { include_usage: true } });
    const reply = await client.call('POST', 'playground/chat', body);
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const frames = reply.text.trim().split('\n\n');
    expect(frames.at(-1)).toBe('data: [DONE]');
    const last = JSON.parse(frames.at(-2)!.slice('data: '.length));
    expect(last).toMatchObject({ usage: { cost: expect.any(Number) }, router_metadata: { stream_end: 'complete' } });
  });

  it('sends through every door of the catalogue, in the form of its API', async () => {
    const { doors } = (await client.call('GET', 'catalogue')).json as { doors: { name: string; kind: string }[] };
    expect(doors.map(({ name }) => name)).toEqual(expect.arrayContaining(['chat', 'messages', 'responses']));
    const model = 'auto/meta/llama';
    const messages = [{ role: 'user', content: 'Hi' }];
    const message = await client.call('POST', 'playground/messages', { model, max_tokens: 9, messages });
    expect(message.json).toMatchObject({ type: 'message', router_metadata: { requested_model: model } });
    const response = await client.call('POST', 'playground/responses', { model, input: 'Hi' });
    expect(response.json).toMatchObject({ object: 'response', usage: { cost: expect.any(Number) } });
    const refused = await client.call('POST', 'playground/messages', { model, messages });
    expect(refused.json).toMatchObject({ type: 'error', error: { param: 'max_tokens' } });
    expect((await client.call('POST', 'playground/elsewhere', {})).status).toBe(404);
  });

  it('goes through the account’s own aliases and refuses what the API refuses, in the same words', async () => {
    await client.call('POST', 'v1/aliases', { name: 'mine', target: 'auto/meta/llama' });
    const served = await client.call('POST', 'playground/chat', ask({ model: 'alias/mine' }));
    expect(served.json.router_metadata).toMatchObject({ alias: 'mine' });
    const refused = await client.call('POST', 'playground/chat', ask({ model: 'alias/none' }));
    expectError(refused, { status: 404, type: 'not_found', code: 'alias_not_found', param: 'model' });
  });

  it('is nothing for another site, nor without a session', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await client.call('POST', 'playground/chat', ask(), { headers })).status).toBe(403);
    expect((await new DashboardClient(bench.gateway.url).call('POST', 'playground/chat', ask())).status).toBe(401);
    expect(bench.upstream.calls).toHaveLength(0);
  });
});
