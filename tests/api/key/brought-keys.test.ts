import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ask, type ErrorRow, expectError, messages, useGateway } from '../harness.js';

const clock = new ManualClock();
const bench = useGateway({ clock, config: { server: { trusted_proxies: ['127.0.0.0/8'] } } });
const day = 86_400_000;
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const newToken = (prefix = 'sk-') => prefix + randomBytes(12).toString('hex');
const from = { system: 'litellm', id: 'key-1' };

async function bring(token: string, more: Json = {}) {
  const { accountId } = await bench.gateway.account();
  const body = { name: 'old', expires: 'never', token_sha256: sha256(token), imported_from: from, ...more };
  return bench.gateway.admin('POST', `/accounts/${accountId}/keys`, body);
}
const statusWith = async (key: string) => (await bench.gateway.chat(ask(), { key })).status;
const malformed: ErrorRow = { status: 401, type: 'authentication_error', code: 'api_key_malformed' };
const invalid = (param: string) => ({
  status: 422,
  type: 'invalid_request_error',
  code: 'invalid_request_error',
  param,
});

describe('a key of another system', () => {
  it('is not looked up while there is none, and works at once when it is there', async () => {
    const token = newToken();
    const before = await bench.gateway.chat(ask(), { key: token });
    expectError(before, { ...malformed, says: ['does not begin with sk-lr-'] });
    const made = await bring(token, { last_four: token.slice(-4) });
    expect([made.status, made.json]).toMatchObject([
      201,
      { name: 'old', prefix: '', last_four: token.slice(-4), imported_from: from, state: 'active', usage_usd: '0' },
    ]);
    expect(made.json).not.toHaveProperty('token');
    expect(await statusWith(token)).toBe(200);
    expect(await statusWith(token)).toBe(200);
    const { json: own } = await bench.gateway.call('GET', '/v1/key', undefined, { key: token });
    expect(own.data.label).toBe(`…${token.slice(-4)}`);
    const unknown = await bench.gateway.chat(ask(), { key: newToken() });
    expectError(unknown, { ...malformed, says: ['does not begin with sk-lr-'] });
  });

  it.each(['sk-bf-', 'x', 'sk_', '!~'])(
    'works with tokens that begin with %s, also as x-api-key at Messages',
    async (prefix) => {
      const token = newToken(prefix);
      expect((await bring(token)).status).toBe(201);
      const body = { model: 'acme/meta/llama', messages, max_tokens: 5 };
      const headers = { 'x-api-key': token };
      const reply = await bench.gateway.chat(body, { key: null, headers, path: '/v1/messages' });
      expect(reply.status, reply.text).toBe(200);
    },
  );

  it('is dead with the next request after its deletion, in the words of an unknown one', async () => {
    const token = newToken();
    const { json: made } = await bring(token);
    expect(await statusWith(token)).toBe(200);
    const { accountId } = await bench.gateway.account();
    expect((await bench.gateway.admin('DELETE', `/accounts/${accountId}/keys/${made.id}`)).status).toBe(204);
    expectError(await bench.gateway.chat(ask(), { key: token }), malformed);
    expect((await bring(token)).status, 'a deleted key does not count').toBe(201);
    expect(await statusWith(token)).toBe(200);
  });

  it('409 key_exists for a token that a key has, brought or our own', async () => {
    const token = newToken();
    await bring(token);
    const { key } = await bench.gateway.createAccount();
    for (const known of [token, key]) {
      expectError(await bring(known), {
        ...{ status: 409, type: 'invalid_request_error', code: 'key_exists', param: 'token_sha256' },
      });
    }
  });

  it.each<[string, Json]>([
    ['token_sha256', { token_sha256: 'abc' }],
    ['token_sha256', { token_sha256: 'g'.repeat(64) }],
    ['token_sha256', { token_sha256: 5 }],
    ['last_four', { last_four: 'abcde' }],
    ['imported_from', { imported_from: { id: 'x' } }],
    ['imported_from', { imported_from: 'litellm' }],
    ['opening_usage_usd', { opening_usage_usd: '-1' }],
    ['opening_usage_usd', { opening_usage_usd: 1 }],
    ['last_four', { token_sha256: undefined, imported_from: undefined, last_four: 'wxyz' }],
    ['imported_from', { token_sha256: undefined }],
  ])('422 with param %s for %j', async (param, more) => {
    expectError(await bring(newToken(), more), invalid(param));
  });

  it('is nothing for a management key: only operators bring tokens', async () => {
    const { accountId } = await bench.gateway.account();
    const manager = { name: 'm', kind: 'management' };
    const { json: made } = await bench.gateway.admin('POST', `/accounts/${accountId}/keys`, manager);
    const body = { name: 'x', token_sha256: sha256(newToken()) };
    expect((await bench.gateway.call('POST', '/v1/keys', body, { key: made.token })).status).toBe(422);
  });

  it('may expire beyond 12 months; its owner is told for 30 days after, and then it is unknown', async () => {
    const token = newToken();
    const expires = new Date(clock.now() + 800 * day).toISOString();
    expect((await bring(token, { expires })).status).toBe(201);
    const short = newToken();
    await bring(short, { expires: '7d' });
    expect(await statusWith(short)).toBe(200);
    clock.advance(8 * day);
    expect((await bench.gateway.chat(ask(), { key: short })).json.error.code).toBe('api_key_expired');
    await bench.gateway.restart();
    expect((await bench.gateway.chat(ask(), { key: short })).json.error.code).toBe('api_key_expired');
    clock.advance(30 * day);
    await bench.gateway.restart();
    expectError(await bench.gateway.chat(ask(), { key: short }), malformed);
    expect(await statusWith(token)).toBe(200);
  });

  it('opening usage counts in the current period of the cap, and in no ledger', async () => {
    const token = newToken();
    const made = await bring(token, { limit_usd: '5', limit_reset: 'daily', opening_usage_usd: '5' });
    expect(made.json).toMatchObject({ usage_usd: '5', limit_remaining_usd: '0' });
    expect((await bench.gateway.chat(ask(), { key: token })).json.error.code).toBe('key_limit_exceeded');
    const budget = async (key: string) => (await bench.gateway.call('GET', '/v1/budget', undefined, { key })).json.key;
    expect(await budget(token)).toMatchObject({ spent_usd: '5', remaining_usd: '0' });
    clock.advance(day);
    expect((await budget(token)).spent_usd).toBe('0');
    expect(await statusWith(token)).toBe(200);
    const { accountId } = await bench.gateway.account();
    const { json: shown } = await bench.gateway.admin('GET', `/accounts/${accountId}/keys/${made.json.id}`);
    expect(Number(shown.usage_usd)).toBeLessThan(1);
    const never = newToken();
    await bring(never, { limit_usd: '5', opening_usage_usd: '6' });
    expect(await statusWith(never)).toBe(402);
    expect(await budget(never)).toMatchObject({ spent_usd: '6', remaining_usd: '0' });
  });

  it('an address that presents 60 unknown tokens gets 429 for further ones, and known tokens are served', async () => {
    const token = newToken();
    await bring(token);
    const tried = (key: string, address: string) =>
      bench.gateway.chat(ask(), { key, headers: { 'x-forwarded-for': address } });
    for (let i = 0; i < 60; i++) expect((await tried(newToken(), '203.0.113.7')).status).toBe(401);
    const refused = await tried(newToken(), '203.0.113.7');
    expect([refused.status, refused.json.error.type, refused.json.error.code]).toEqual([
      ...[429, 'invalid_request_error', 'rate_limit_exceeded'],
    ]);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect((await tried(token, '203.0.113.7')).status).toBe(200);
    expect((await tried(newToken(), '203.0.113.8')).status).toBe(401);
    clock.advance(61_000);
    expect((await tried(newToken(), '203.0.113.7')).status).toBe(401);
  });

  it('a token of more than 512 characters is not looked up', async () => {
    const token = `t${'a'.repeat(512)}`;
    await bring(token);
    expectError(await bench.gateway.chat(ask(), { key: token }), malformed);
    const longest = 'b'.repeat(512);
    await bring(longest);
    expect(await statusWith(longest)).toBe(200);
  });
});
