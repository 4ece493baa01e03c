import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

let fixture: HttpFixture;

beforeEach(async () => {
  fixture = await httpFixture();
});

function call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, payload?: object) {
  return fixture.app.inject({ method, url: `/v1/aliases${path}`, headers: fixture.asKey, ...(payload && { payload }) });
}

const create = (name: string, target: unknown = 'acme/meta/llama/defra') => call('POST', '', { name, target });

describe('POST /v1/aliases', () => {
  it('201 with the whole alias, which is then in the list and in memory', async () => {
    const answer = await create('fast');
    expect(answer.statusCode).toBe(201);
    const target = { provider: 'acme', canonical_id: 'meta/llama', locode: 'defra' };
    const at = new Date(fixture.clock.now()).toISOString();
    expect(answer.json()).toEqual({
      ...{ object: 'alias', name: 'fast', ...target, target, model_id: 'acme/meta/llama/defra' },
      ...{ created_at: at, updated_at: at },
    });
    expect((await call('GET', '')).json()).toEqual({ object: 'list', data: [answer.json()] });
    expect(fixture.account.aliases.get('fast')).toMatchObject({ locode: 'defra' });
  });

  it('has a null locode for auto', async () => {
    expect((await create('any', 'auto/meta/llama')).json()).toMatchObject({
      provider: 'auto',
      locode: null,
      model_id: 'auto/meta/llama',
    });
  });

  it.each([[{ name: 'Bad Name' }], [{}], [{ name: 7 }], [{ name: '' }]])(
    '400 invalid_alias_name, param name, for %j',
    async (body) => {
      const answer = await call('POST', '', { ...body, target: 'auto/meta/llama' });
      expect(answer.statusCode).toBe(400);
      expect(answer.json().error).toMatchObject({ code: 'invalid_alias_name', param: 'name' });
    },
  );

  it('409 for a name that exists, also with all slots taken and with a bad target', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect((await create(name)).statusCode).toBe(201);
    const answer = await create('a', 'nonsense');
    expect(answer.statusCode).toBe(409);
    expect(answer.json().error).toMatchObject({ type: 'invalid_request_error', code: 'alias_exists', param: 'name' });
  });

  it('422 alias_limit_reached for the sixth, before its target is looked at', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name);
    const answer = await create('f', 'nonsense');
    expect(answer.statusCode).toBe(422);
    expect(answer.json().error).toMatchObject({ code: 'alias_limit_reached', param: 'name' });
  });

  it('never passes five with twenty at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`alias-${i}`)));
    expect(answers.map((answer) => answer.statusCode).filter((status) => status === 201)).toHaveLength(5);
    expect(fixture.account.aliases.size).toBe(5);
  });

  it('422 invalid_alias_target, param target, with the reason', async () => {
    const answer = await create('x', 'acme/meta/llama/jptyo');
    expect(answer.statusCode).toBe(422);
    expect(answer.json().error).toMatchObject({ code: 'invalid_alias_target', param: 'target' });
    expect(answer.json().error.message).toContain('jptyo');
  });

  it('503 service_unavailable without a routing snapshot', async () => {
    fixture = await httpFixture({ catalogue: { current: null, reload: async () => ({ ok: false, faults: [] }) } });
    expect((await create('x')).statusCode).toBe(503);
  });

  it('500, never 401, when the store is away', async () => {
    fixture.store.away = true;
    const answer = await create('x');
    expect(answer.statusCode).toBe(500);
    expect(answer.json().error.code).toBe('internal_server_error');
    expect(fixture.account.aliases.has('x')).toBe(false);
  });

  it.each([
    ['no body', undefined, 'application/json', 'is empty'],
    ['broken JSON', '{', 'application/json', 'not valid JSON'],
    ['a list', '[]', 'application/json', 'not a JSON object'],
    ['another type', '{}', 'text/plain', 'not sent as JSON'],
    ['a broken type', '{}', ';;;', 'not sent as JSON'],
    ['deep nesting', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, 'application/json', 'deeper than 128'],
    ['over 256 KiB', `{"a":"${'x'.repeat(300_000)}"}`, 'application/json', 'larger than'],
  ])('400 without param for %s', async (_what, payload, type, reason) => {
    const answer = await fixture.app.inject({
      method: 'POST',
      url: '/v1/aliases',
      headers: { ...fixture.asKey, 'content-type': type },
      ...(payload !== undefined && { payload }),
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toMatchObject({ code: 'invalid_request_error' });
    expect(answer.json().error).not.toHaveProperty('param');
    expect(answer.json().error.message).toContain(reason);
  });
});

describe('/v1/aliases/{name}', () => {
  it.each(['PUT', 'PATCH'] as const)('%s replaces the whole target and keeps created_at', async (method) => {
    const { created_at } = (await create('fast')).json();
    fixture.clock.advance(5000);
    const answer = await call(method, '/fast', { provider: 'zeta', canonical_id: 'meta/llama' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ provider: 'zeta', locode: 'global', created_at });
    expect(answer.json().updated_at).not.toBe(created_at);
    expect((await call('GET', '/fast')).json()).toEqual(answer.json());
  });

  it('422 on a repoint with a part of the target: absent is empty, not unchanged', async () => {
    await create('fast');
    expect((await call('PUT', '/fast', { locode: 'usnyc' })).statusCode).toBe(422);
    expect((await call('PUT', '/fast', { provider: 'acme', canonical_id: 'meta/llama' })).statusCode).toBe(422);
    expect((await call('GET', '/fast')).json().locode).toBe('defra');
  });

  it('DELETE gives 204 and frees the slot', async () => {
    await create('fast');
    const answer = await call('DELETE', '/fast');
    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect((await call('GET', '/fast')).statusCode).toBe(404);
    expect(fixture.store.auditRows.map(({ action }) => action)).toContain('alias.delete');
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'] as const)(
    '404 alias_not_found, param name, on %s of an unknown name',
    async (method) => {
      for (const name of ['nothing', 'constructor', '__proto__', 'x'.repeat(500)]) {
        const answer = await call(
          method,
          `/${name}`,
          method === 'GET' || method === 'DELETE' ? undefined : { target: 'auto/meta/llama' },
        );
        expect(answer.statusCode).toBe(404);
        expect(answer.json().error).toMatchObject({ code: 'alias_not_found', param: 'name' });
      }
    },
  );

  it('404 for the alias of another account', async () => {
    await create('mine');
    const other = await fixture.directory.createAccount('system', { email: 'other@example.com' });
    const { token } = await fixture.directory.createKey('system', { accountId: other.id, name: 'k', expiresAt: null });
    const answer = await fixture.app.inject({ url: '/v1/aliases/mine', headers: { authorization: `Bearer ${token}` } });
    expect(answer.statusCode).toBe(404);
  });
});
