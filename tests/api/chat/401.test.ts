import { describe, expect, it } from 'vitest';
import { ask, expectError, expectNothingSpent, useGateway } from '../harness.js';

const bench = useGateway();

const unauthorised = (code: string, ...says: (string | RegExp)[]) => ({
  status: 401,
  type: 'authentication_error',
  code,
  says,
});
const unknownToken = `sk-lr-${'Zz09-_'.repeat(7)}A`;

describe('401 on a chat', () => {
  it('authentication_error without a header', async () => {
    const account = await bench.gateway.account();
    const reply = await expectNothingSpent(bench, account, () => bench.gateway.chat(ask(), { key: null }));
    expectError(reply, unauthorised('authentication_error', 'Authorization', 'Bearer'));
  });

  it('api_key_not_registered for a key of the right shape that no account owns', async () => {
    const reply = await bench.gateway.chat(ask(), { key: unknownToken });
    expectError(reply, unauthorised('api_key_not_registered', 'No account', 'create a new key'));
    expect(JSON.stringify(reply.json)).not.toContain(unknownToken.slice(6));
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('api_key_not_registered for a real key whose secret half is wrong', async () => {
    const { key } = await bench.gateway.account();
    const forged = `${key.slice(0, 16)}${'A'.repeat(33)}`;
    expectError(await bench.gateway.chat(ask(), { key: forged }), unauthorised('api_key_not_registered'));
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each([
    ['truncated by one', (key: string) => key.slice(0, -1), '42'],
    ['over-copied by one', (key: string) => `${key}x`, '44'],
    ['cut to its prefix', () => 'sk-lr-', '0'],
    ['twice', (key: string) => key + key, '92'],
  ])('api_key_malformed for a key %s: the message states the length found and expected', async (_, spoil, found) => {
    const { key } = await bench.gateway.account();
    const reply = await bench.gateway.chat(ask(), { key: spoil(key) });
    expectError(reply, unauthorised('api_key_malformed', `${found} characters`, '43 are expected'));
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('api_key_malformed for the retired scheme, and the message says so', async () => {
    for (const body of ['A'.repeat(43), 'short', '']) {
      const reply = await bench.gateway.chat(ask(), { key: `sk-bf-${body}` });
      expectError(reply, unauthorised('api_key_malformed', 'sk-bf-', 'retired', 'sk-lr-'));
    }
  });

  it('the answer does not depend on the body: nothing of it is read first', async () => {
    for (const body of ['{', '', ask({ temperature: 9 }), 'x'.repeat(300_000)]) {
      expectError(await bench.gateway.chat(body, { key: null }), unauthorised('authentication_error'));
    }
    expect(bench.upstream.calls).toHaveLength(0);
  });
});

describe('401 on every other endpoint', () => {
  it.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/models/acme/meta/llama/defra'],
    ['GET', '/v1/aliases'],
    ['POST', '/v1/aliases'],
    ['GET', '/v1/aliases/x'],
    ['PUT', '/v1/aliases/x'],
    ['PATCH', '/v1/aliases/x'],
    ['DELETE', '/v1/aliases/x'],
    ['GET', '/v1/generations'],
    ['GET', '/v1/generation/gen-x'],
    ['GET', '/v1/generation?id=gen-x'],
    ['GET', '/v1/credits'],
    ['GET', '/v1/key'],
  ])('%s %s: the same four codes', async (method, path) => {
    const { key } = await bench.gateway.account();
    const call = (token: string | null) =>
      bench.gateway.call(method, path, method === 'GET' ? undefined : '{', { key: token });
    expectError(await call(null), unauthorised('authentication_error'));
    expectError(await call(unknownToken), unauthorised('api_key_not_registered'));
    expectError(await call(key.slice(1)), unauthorised('api_key_malformed'));
    expectError(await call('sk-bf-x'), unauthorised('api_key_malformed', 'retired'));
  });
});
