/** The dry run of a request of any client API says what the request itself would get. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { threadTime } from '../support/thread-time.js';
import { useDoors } from './door-gateway.js';
import { doorCases } from './doors.js';
import { taskDoors } from './task-gateway.js';

const bench = useDoors();
const path = '/v1/routes/explain';
const explain = (body: unknown, options = {}) => bench.gateway.call('POST', path, body, options);
const pin = 'plain/acme/one/defra';

const asks: readonly (readonly [door: string, asked: Json])[] = [
  ...doorCases.map((door) => [door.name, door.ask(pin)] as const),
  ...taskDoors.map((door) => [door.name, door.ask(`plain/acme/${door.kind}`)] as const),
];

function nested(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

describe.each(asks)('explain for %s', (door, asked) => {
  it('says who would serve the request', async () => {
    const reply = await explain({ ...asked, door });
    expect(reply, reply.text).toMatchObject({ status: 200, json: { error: null, would_serve: expect.any(String) } });
  });

  it.each([200, 50_000, 500_000])('400 for a body of %i levels, as at the endpoint itself', async (levels) => {
    const text = JSON.stringify({ ...asked, door });
    const deep = `${text.slice(0, -1)},"metadata":${nested(levels)}}`;
    const twice = `${deep.slice(0, -1)},"door":"${door}"}`;
    for (const body of [deep, twice]) {
      expect(await explain(body)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request_error', message: expect.stringContaining('deeper than 128 levels') } },
      });
    }
  });
});

it('reads a large body of any API on another thread', async () => {
  const spent: Record<string, number> = {};
  const many = Array.from({ length: 120_000 }, () => '{}').join(',');
  for (const member of ['', '"door":"messages",']) {
    const body = `{${member}"model":"${pin}","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"metadata":{"x":[${many}]}}`;
    await explain(body);
    const before = threadTime().ranMs;
    for (let i = 0; i < 5; i++) expect((await explain(body)).status).toBe(200);
    spent[member] = threadTime().ranMs - before;
  }
  // The gateway runs in this thread. Parsing here takes more than three times as long as all the rest.
  expect(spent['"door":"messages",']!).toBeLessThan(2 * spent['']! + 100);
});

it('applies x-lodestone-strict as the endpoint does', async () => {
  const headers = { 'x-lodestone-strict': 'true' };
  const cached = { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] };
  const asked = { model: pin, max_tokens: 9, messages: [cached] };
  const refused = await bench.gateway.call('POST', '/v1/messages', asked, { headers });
  expect(refused).toMatchObject({ status: 400, json: { error: { param: 'cache_control' } } });
  const strict = await explain({ ...asked, door: 'messages' }, { headers });
  expect(strict.json).toMatchObject({
    would_serve: null,
    candidates: [{ id: pin, verdict: 'cannot_apply', param: 'cache_control' }],
    error: { error: { param: 'cache_control' } },
  });
  expect((await explain({ ...asked, door: 'messages' })).json).toMatchObject({ would_serve: pin, error: null });
});

it('400 for a door that is none, with every name once', async () => {
  const reply = await explain({ model: pin, messages: [], door: 'window' });
  expect(reply).toMatchObject({ status: 400, json: { error: { param: 'door' } } });
  expect(reply.json.error.message).toContain('"chat", "messages", "responses", "embeddings", "rerank"');
});

it('says that the cap of a key or a budget is spent, and that a credit limit admits', async () => {
  const { accountId, key, keyId } = await bench.gateway.createAccount({ credit: null });
  const asked = { model: pin, messages: [{ role: 'user', content: 'Hi' }] };
  const codeOf = async () => (await explain(asked, { key })).json.error?.error.code;
  expect(await codeOf()).toBe('insufficient_credits');
  const credit = { credit_limit_usd: '1' };
  expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}`, credit)).status).toBe(200);
  expect(await codeOf()).toBeUndefined();
  const cap = { limit_usd: '0' };
  expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}/keys/${keyId}`, cap)).status).toBe(200);
  expect(await codeOf()).toBe('key_limit_exceeded');
  await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { budget: { limit_usd: '0' } });
  expect(await codeOf()).toBe('budget_exceeded');
});

it('names the scope of the key before the limit of tokens', async () => {
  const { accountId, key, keyId } = await bench.gateway.createAccount();
  const asked = { model: pin, messages: [{ role: 'user', content: 'Hi' }] };
  expect((await bench.gateway.chat(asked, { key })).status).toBe(200);
  await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { limits: { tokens_per_minute: 1 } });
  expect((await explain(asked, { key })).json.error.error.code).toBe('rate_limit_exceeded');
  const scope = { allowed_models: ['nobody/*'] };
  expect((await bench.gateway.admin('PATCH', `/accounts/${accountId}/keys/${keyId}`, scope)).status).toBe(200);
  for (const body of [asked, { ...asked, fallback: { models: ['plain/acme/none/defra'] } }]) {
    expect((await explain(body, { key })).json.error.error.code).toBe('key_scope');
    expect((await bench.gateway.chat(body, { key })).json.error.code).toBe('key_scope');
  }
});
