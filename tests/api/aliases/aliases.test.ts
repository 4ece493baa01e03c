import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { expectError, useGateway } from '../harness.js';

const bench = useGateway();

async function owner() {
  const { key, accountId } = await bench.gateway.createAccount();
  const call = (method: string, name = '', body?: unknown) =>
    bench.gateway.call(method, `/v1/aliases${name && `/${name}`}`, body, { key });
  return { key, accountId, call, create: (body: unknown) => call('POST', '', body) };
}

const pin = { provider: 'acme', canonical_id: 'meta/llama', locode: 'defra' };
const aliasOf = (name: string, target: Json, model_id: string) => ({
  object: 'alias',
  name,
  ...target,
  target,
  model_id,
  created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
});
const badTarget = (...says: (string | RegExp)[]) => ({
  status: 422,
  type: 'invalid_request_error',
  code: 'invalid_alias_target',
  param: 'target',
  says,
});

describe('POST /v1/aliases', () => {
  it.each<[string, Json, Json, string]>([
    ['flat fields', pin, pin, 'acme/meta/llama/defra'],
    ['a nested target', { target: pin }, pin, 'acme/meta/llama/defra'],
    ['a string', { target: 'acme/meta/llama/DEFRA' }, pin, 'acme/meta/llama/defra'],
    [
      'an auto string',
      { target: 'auto/meta/llama' },
      { provider: 'auto', canonical_id: 'meta/llama', locode: null },
      'auto/meta/llama',
    ],
    [
      'auto in fields',
      { provider: 'auto', canonical_id: 'meta/llama' },
      { provider: 'auto', canonical_id: 'meta/llama', locode: null },
      'auto/meta/llama',
    ],
    [
      'no locode',
      { provider: 'acme', canonical_id: 'meta/everywhere' },
      { provider: 'acme', canonical_id: 'meta/everywhere', locode: 'global' },
      'acme/meta/everywhere/global',
    ],
    [
      'a null locode',
      { target: { provider: 'acme', canonical_id: 'meta/everywhere', locode: null } },
      { provider: 'acme', canonical_id: 'meta/everywhere', locode: 'global' },
      'acme/meta/everywhere/global',
    ],
  ])('201 with the whole alias for %s', async (_, body, target, modelId) => {
    const { create, call } = await owner();
    const reply = await create({ name: 'a', ...body });
    expect([reply.status, reply.json]).toEqual([201, aliasOf('a', target, modelId)]);
    expect((await call('GET', 'a')).json).toEqual(reply.json);
    expect((await call('GET')).json).toEqual({ object: 'list', data: [reply.json] });
  });

  it.each(['a', '0', 'a-b_c', '9lives', 'a'.repeat(64)])('takes the name %s', async (name) => {
    expect((await (await owner()).create({ name, ...pin })).status).toBe(201);
  });

  it.each(['', 'A', '-a', '_a', 'a b', 'a.b', 'a/b', 'ä', 'a'.repeat(65), 'a\n'])(
    '400 invalid_alias_name for %j',
    async (name) => {
      const reply = await (await owner()).create({ name, ...pin });
      expectError(reply, {
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_alias_name',
        param: 'name',
        says: ['1 to 64'],
      });
    },
  );

  it.each([[{}], [{ name: null }], [{ name: 5 }]])('400 invalid_alias_name for %j', async (fields) => {
    expect((await (await owner()).create({ ...pin, ...fields })).json.error.code).toBe('invalid_alias_name');
  });

  it('409 alias_exists for a name that is taken, param name', async () => {
    const { create } = await owner();
    await create({ name: 'a', ...pin });
    expectError(await create({ name: 'a', target: 'auto/meta/llama' }), {
      status: 409,
      type: 'invalid_request_error',
      code: 'alias_exists',
      param: 'name',
      says: ['"a"', 'PUT /v1/aliases/a'],
    });
  });

  it('422 alias_limit_reached for the sixth, param name; a deletion frees a slot', async () => {
    const { create, call } = await owner();
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect((await create({ name, ...pin })).status).toBe(201);
    expectError(await create({ name: 'f', ...pin }), {
      status: 422,
      type: 'invalid_request_error',
      code: 'alias_limit_reached',
      param: 'name',
      says: ['5'],
    });
    expect((await call('DELETE', 'c')).status).toBe(204);
    expect((await create({ name: 'f', ...pin })).status).toBe(201);
    expect((await call('GET')).json.data).toHaveLength(5);
  });

  it('five slots hold under concurrency too', async () => {
    const { create, call } = await owner();
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const replies = await Promise.all(names.map((name) => create({ name, ...pin })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(15);
    expect((await call('GET')).json.data).toHaveLength(5);
  });

  it.each<[string, Json, string | RegExp]>([
    ['no target', {}, 'no target'],
    ['two shapes', { ...pin, target: pin }, 'more than one shape'],
    ['two shapes, one a string', { ...pin, target: 'acme/meta/llama/defra' }, 'more than one shape'],
    ['a string without a locode', { target: 'acme/meta/llama' }, 'acme/meta/llama'],
    ['auto with a locode', { provider: 'auto', canonical_id: 'meta/llama', locode: 'defra' }, 'auto'],
    ['an auto string with a locode', { target: 'auto/meta/llama/defra' }, 'auto'],
    ['a target of a wrong type', { target: 5 }, 'neither an object nor a string'],
    ['a list', { target: ['acme/meta/llama/defra'] }, 'neither'],
    ['a field of a wrong type', { ...pin, locode: 5 }, 'locode'],
    ['no provider', { canonical_id: 'meta/llama', locode: 'defra' }, 'provider'],
    ['no canonical_id', { provider: 'acme', locode: 'defra' }, 'canonical_id'],
    ['an unknown provider', { ...pin, provider: 'nobody' }, '"nobody"'],
    ['an unknown model', { ...pin, canonical_id: 'meta/unknown' }, '"meta/unknown"'],
    [
      'a model that the provider does not offer',
      { provider: 'keyless', canonical_id: 'meta/everywhere' },
      'does not offer',
    ],
    ['a region not served', { ...pin, locode: 'usnyc' }, 'usnyc'],
    ['a required region missing', { provider: 'acme', canonical_id: 'meta/llama' }, 'region is required'],
    ['an alias as a target', { target: 'alias/x' }, /./],
    ['an empty string', { target: '' }, /./],
  ])('422 invalid_alias_target for %s, param target', async (_, body, says) => {
    const { create, call } = await owner();
    expectError(await create({ name: 'a', ...body }), badTarget(says));
    expect((await call('GET')).json.data).toEqual([]);
  });

  it('checks the name before the slots, the slots before the target', async () => {
    const { create } = await owner();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create({ name, ...pin });
    expect((await create({ name: 'F', target: 5 })).json.error.code).toBe('invalid_alias_name');
    expect((await create({ name: 'f', target: 5 })).json.error.code).toBe('alias_limit_reached');
  });

  it.each(['', '[]', 'null', '{', '"x"'])('400 for the body %j, no param', async (body) => {
    expectError(await (await owner()).create(body), {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request_error',
    });
  });
});

describe('PUT and PATCH /v1/aliases/{name}', () => {
  it.each(['PUT', 'PATCH'])('%s replaces the whole target; absent fields are empty, not kept', async (method) => {
    const { create, call } = await owner();
    const made = (await create({ name: 'a', ...pin })).json;
    const reply = await call(method, 'a', { provider: 'acme', canonical_id: 'meta/everywhere' });
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        ...aliasOf(
          'a',
          { provider: 'acme', canonical_id: 'meta/everywhere', locode: 'global' },
          'acme/meta/everywhere/global',
        ),
        created_at: made.created_at,
      },
    ]);
    expectError(await call(method, 'a', { locode: 'frpar' }), badTarget('provider'));
    expectError(
      await call(method, 'a', { provider: 'acme', canonical_id: 'meta/llama' }),
      badTarget('region is required'),
    );
    expect((await call('GET', 'a')).json).toEqual(reply.json);
  });
});

describe('an unknown name', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])(
    '%s: 404 alias_not_found, param name; another account’s alias too',
    async (method) => {
      const [mine, theirs] = [await owner(), await owner()];
      await theirs.create({ name: 'theirs', ...pin });
      for (const name of ['none', 'theirs', '__proto__', 'A%20B']) {
        const reply = await mine.call(method, name, method === 'GET' || method === 'DELETE' ? undefined : pin);
        expectError(reply, {
          status: 404,
          type: 'not_found',
          code: 'alias_not_found',
          param: 'name',
          says: ['GET /v1/aliases'],
        });
      }
      expect((await theirs.call('GET')).json.data).toHaveLength(1);
    },
  );

  it('DELETE answers 204 without a body, once', async () => {
    const { create, call } = await owner();
    await create({ name: 'a', ...pin });
    const reply = await call('DELETE', 'a');
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect((await call('DELETE', 'a')).status).toBe(404);
    expect((await call('GET')).json.data).toEqual([]);
  });
});
