import { afterEach, describe, expect, it } from 'vitest';
import { requestBytes, sendRaw } from '../../support/raw-http.js';
import { ask, expectError, expectRefused, useGateway } from '../harness.js';

const bench = useGateway();
const notFound = (...says: (string | RegExp)[]) => ({
  status: 404,
  type: 'not_found',
  code: 'not_found',
  param: 'model',
  says,
});

describe('404 not_found: the catalogue has no such route', () => {
  it.each([
    ['keyless/meta/everywhere', ['does not offer', 'acme']],
    ['keyless/meta/everywhere/global', ['does not offer']],
    ['nobody/meta/llama', ['no provider "nobody"', 'acme']],
    ['nobody/meta/llama/defra', ['no provider "nobody"']],
    ['acme/meta/unknown', ['no model "meta/unknown"']],
    ['acme/nobody/llama/defra', ['no model "nobody/llama"']],
    ['auto/meta/unknown', ['no model "meta/unknown"']],
  ])('%s: model not offered by the named provider, with a hint where it is', (id, says) =>
    expectRefused(bench, ask({ model: id }), notFound(`"${id}"`, 'GET /v1/models', ...says)),
  );

  it.each(['global', 'GLOBAL'])('%s pinned, but the model is served only in specific regions', (locode) =>
    expectRefused(bench, ask({ model: `acme/meta/llama/${locode}` }), notFound('region-less', 'frpar', 'defra')),
  );

  it.each(['usnyc', 'zzzzz', 'eu-central-1', 'defra '])(
    'region %j pinned, where the model is not served: never a 503',
    (locode) =>
      expectRefused(
        bench,
        ask({ model: `acme/meta/llama/${locode}` }),
        notFound(locode, 'not served', 'frpar', 'defra'),
      ),
  );

  it('a region pinned on a model that is served only without one', () =>
    expectRefused(bench, ask({ model: 'acme/meta/everywhere/defra' }), notFound('defra', 'global')));

  it('never another region, provider or alias instead', async () => {
    await expectRefused(bench, ask({ model: 'keyless/meta/llama/frpar' }), notFound('frpar', 'defra'));
    expect(bench.upstream.calls).toHaveLength(0);
  });
});

describe('hostile ids', () => {
  const hostile = [
    '../../etc/passwd',
    'acme/meta/../llama',
    'acme/meta/llama%2fdefra',
    'acme/meta/llama?x=1/defra',
    'acme/meta/llama#/defra',
    'acme/meta/llama\\defra',
    '__proto__/meta/llama',
    'acme/__proto__/constructor',
    'acme/meta/__proto__',
    'acme/meta/llama/__proto__',
    'constructor/toString/valueOf',
    'acme/meta/hasOwnProperty/defra',
    'ACME/meta/llama',
    'acme/META/llama',
    ' acme/meta/llama',
    'acme/meta/llama\n',
    'acme/meta/llama\u0000',
    'acme/meta/😀',
    `acme/meta/${'x'.repeat(100_000)}`,
  ];

  it.each(hostile)('%j is not found, and no path of the upstream changes', async (id) => {
    await expectRefused(bench, ask({ model: id }), notFound());
  });

  it.each([
    ['alias/constructor', 404, 'alias_not_found'],
    ['alias/toString', 400, 'invalid_alias_name'],
    ['alias/__proto__', 400, 'invalid_alias_name'],
    ['alias/hasOwnProperty', 400, 'invalid_alias_name'],
  ])('%s is no alias', async (id, status, code) => {
    const { error } = (await bench.gateway.chat(ask({ model: id }))).json;
    expect([error.code, error.param]).toEqual([code, 'model']);
    expect((await bench.gateway.chat(ask({ model: id }))).status).toBe(status);
  });

  it('a long id is quoted short', async () => {
    const { json } = await bench.gateway.chat(ask({ model: `acme/meta/${'x'.repeat(100_000)}` }));
    expect(json.error.message.length).toBeLessThan(1_000);
  });
});

describe('404 alias_not_found', () => {
  it.each(['nothing', 'a', '0', 'a'.repeat(64)])('alias/%s does not exist on the account', (name) =>
    expectRefused(bench, ask({ model: `alias/${name}` }), {
      status: 404,
      type: 'not_found',
      code: 'alias_not_found',
      param: 'model',
      says: [`"${name}"`, 'GET /v1/aliases'],
    }),
  );
});

describe('404 model_not_found: fully disabled', () => {
  const setState = (state: string) => bench.gateway.admin('PUT', '/models/meta/llama/availability', { state });
  afterEach(() => setState('available'));

  it('with the irregular type, on every route of the model, until it is available again', async () => {
    await setState('disabled');
    const row = {
      status: 404,
      type: 'internal_server_error',
      code: 'model_not_found',
      param: 'model',
      says: ['disabled', 'GET /v1/models'],
    };
    for (const id of ['acme/meta/llama', 'acme/meta/llama/frpar', 'keyless/meta/llama/defra', 'auto/meta/llama']) {
      await expectRefused(bench, ask({ model: id }), { ...row, says: [`"${id}"`, ...row.says] });
    }
    expect((await bench.gateway.chat(ask({ model: 'acme/meta/free' }))).status).toBe(200);
    await setState('available');
    expect((await bench.gateway.chat(ask())).status).toBe(200);
  });
});

describe('404 not_found: no such path', () => {
  const paths = [
    '/',
    '/v1',
    '/v1/',
    '/v1/chat',
    '/v1/chat/completions/',
    '/v1/completions',
    '/v2/chat/completions',
    '//v1/chat/completions',
    '/v1/chat/completions;x',
    '/V1/chat/completions',
    '/v1/chat%2fcompletions',
    '/v1/audio/speech',
    '/admin',
    '/admin/v1/nothing',
    '/.env',
  ];

  it.each(paths)('POST %s, with or without a key, and no upstream is called', async (path) => {
    const { gateway, upstream } = bench;
    for (const options of [{}, { key: null }]) {
      const reply = await gateway.chat(ask(), { path, ...options });
      expectError(reply, { status: 404, type: 'not_found', code: 'not_found', says: ['POST', '/docs'] });
    }
    expect(upstream.calls).toHaveLength(0);
  });

  it.each([
    '/v1/../v1/chat/completions',
    '/./v1/chat/completions',
    '/v1/%2e%2e/v1/chat/completions',
    'http://elsewhere.example/v1/chat/completions',
    '*',
  ])('POST %s as it stands on the wire', async (target) => {
    const { gateway, upstream } = bench;
    const { key } = await gateway.account();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' };
    const response = await sendRaw(gateway.url, requestBytes('POST', target, headers, JSON.stringify(ask())), {
      idleMs: 2_000,
    });
    expect([response.status, (response.json as { error: { code: string } }).error.code]).toEqual([404, 'not_found']);
    expect(upstream.calls).toHaveLength(0);
  });
});
