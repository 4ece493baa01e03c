import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { streamOf } from '../../support/scripted-upstream.js';
import { json, sse } from '../../support/upstream-scripts.js';
import { ask, expectError, llama, messages, useGateway } from '../harness.js';

const bench = useGateway({
  models: [
    {
      creator: 'meta',
      model: 'vectors',
      kind: 'embedding',
      routes: [{ provider: 'acme', locode: 'global', price: { input: 0.1 } }],
    },
  ],
});
const put = (name: string, body: unknown) => bench.gateway.admin('PUT', `/names/${encodeURIComponent(name)}`, body);
const remove = (name: string) => bench.gateway.admin('DELETE', `/names/${encodeURIComponent(name)}`);
const sent = () => bench.upstream.calls.at(-1)!.json as Json;
const named = async (name: string, definition: Json, more: Json = {}, path?: string) => {
  expect((await put(name, definition)).status).toBe(200);
  const { model: _, ...body } = ask(more);
  return bench.gateway.chat({ ...body, model: name }, path === undefined ? {} : { path });
};
const refusal = (code: string, param: string, ...says: (string | RegExp)[]) => ({
  ...{ status: 422, type: 'invalid_request_error', code, param, says },
});

describe('PUT, GET and DELETE /admin/v1/names', () => {
  it('a name is stored, listed, replaced and deleted, and the next request knows', async () => {
    const first = await put('team/gpt-4o:eu', { model: 'auto/meta/llama', note: 'was: azure/gpt-4o-eu' });
    expect([first.status, first.json]).toEqual([
      200,
      {
        ...{ object: 'name', name: 'team/gpt-4o:eu', model: 'auto/meta/llama', fallback: null, provider: null },
        ...{ defaults: null, note: 'was: azure/gpt-4o-eu', imported_from: null, source: 'store', file: null },
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    const { json: list } = await bench.gateway.admin('GET', '/names');
    expect(list.object).toBe('list');
    expect(list.data).toContainEqual(first.json);
    expect((await bench.gateway.chat(ask({ model: 'team/gpt-4o:eu' }))).status).toBe(200);
    expect((await put('team/gpt-4o:eu', { model: 'acme/meta/plain/defra' })).status).toBe(200);
    const { json: answer } = await bench.gateway.chat(ask({ model: 'team/gpt-4o:eu' }));
    expect(answer.model, JSON.stringify(answer)).toBe('acme/meta/plain/defra');
    expect((await remove('team/gpt-4o:eu')).status).toBe(204);
    const gone = await bench.gateway.chat(ask({ model: 'team/gpt-4o:eu' }));
    expectError(gone, {
      ...{ status: 400, type: 'invalid_request_error', code: 'invalid_request_error', param: 'model' },
      says: ['2 segments'],
    });
    expect((await remove('team/gpt-4o:eu')).status).toBe(404);
  });

  it.each(['a b', 'a/b/c', 'auto/x', 'alias/x', 'a'.repeat(201), 'ü', 'a\n'])(
    '422 invalid_name for %j',
    async (name) => {
      expectError(await put(name, { model: llama }), refusal('invalid_name', 'name'));
    },
  );

  it.each(['a', 'a'.repeat(200), 'gpt-4o:nitro', '%', 'a?b#c', 'auto', '~!@$^&*()'])(
    'takes the name %j',
    async (name) => {
      expect((await named(name, { model: llama })).json.router_metadata).toMatchObject({ name, requested_model: name });
      expect((await remove(name)).status).toBe(204);
    },
  );

  it.each([
    ['an unknown model', 'auto/meta/nothing'],
    ['an unknown region', 'acme/meta/llama/zzzzz'],
    ['an alias', 'alias/mine'],
    ['another name', 'gpt-4o'],
    ['nothing', undefined],
    ['a number', 5],
  ])('422 invalid_name_target for %s', async (_, model) => {
    expectError(await put('gpt-4o', { model }), refusal('invalid_name_target', 'target'));
  });

  it.each<[string, Json]>([
    ['defaults.temperature', { defaults: { temperature: 3 } }],
    ['defaults.max_tokens', { defaults: { max_tokens: 'many' } }],
    ['defaults.model', { defaults: { model: llama } }],
    ['defaults.messages', { defaults: { messages: [] } }],
    ['defaults.stream', { defaults: { stream: true } }],
    ['defaults.fallback', { defaults: { fallback: { models: [] } } }],
    ['defaults.provider', { defaults: { provider: {} } }],
    ...[
      'api_key',
      'aws_secret_access_key',
      'aws_access_key_id',
      'private_key',
      'secretKey',
      'vertex_service_account',
    ].map((field): [string, Json] => [`defaults.${field}`, { defaults: { [field]: 'x' } }]),
    ['defaults', { defaults: 5 }],
    ['provider.sort', { provider: { sort: 'beauty' } }],
    ['provider.only', { provider: { only: ['nobody'] } }],
    ['provider.colour', { provider: { colour: 'red' } }],
    ['fallback.models', { fallback: { models: ['auto/meta/nothing'] } }],
    ['fallback.models', { fallback: { models: ['gpt-4o'] } }],
    ['fallback.models', { fallback: { models: ['alias/mine'] } }],
    ['fallback.models', { fallback: { models: ['acme/meta/vectors/global'] } }],
    ['fallback.models', { fallback: { models: Array(11).fill(llama) } }],
    ['colour', { colour: 'red' }],
    ['note', { note: 5 }],
  ])('422 with the path for %s', async (param, more) => {
    expectError(await put('gpt-4o', { model: llama, ...more }), refusal('invalid_request_error', param));
  });
});

describe('a request by a name', () => {
  it('metadata, generation and usage have the name', async () => {
    const { json: answer } = await named('plain-name', { model: 'auto/meta/llama' });
    expect(answer.router_metadata).toMatchObject({
      ...{ requested_model: 'plain-name', name: 'plain-name', defaults: [], alias: null, request_policy: false },
    });
    const { json: found } = await bench.gateway.call('GET', `/v1/generation?id=${answer.id}`);
    expect(found.data.requested_model).toBe('plain-name');
    const { json: other } = await bench.gateway.chat(ask());
    expect(other.router_metadata).toMatchObject({ name: null, defaults: [] });
  });

  it('a stream says the name, too', async () => {
    await put('plain-name', { model: llama });
    bench.upstream.enqueue(sse(streamOf(['Hel', 'lo'])));
    const { text } = await bench.gateway.stream(ask({ model: 'plain-name' }));
    expect(text.match(/"requested_model":"plain-name".*?"name":"plain-name","defaults":\[\]/g)).toHaveLength(2);
  });

  it('defaults fill what the client left out, and nothing that it sent', async () => {
    const definition = { model: llama, defaults: { temperature: 0.2, max_tokens: 800, user: 'u' } };
    const filled = await named('d', definition);
    expect(sent()).toMatchObject({ temperature: 0.2, max_tokens: 800, user: 'u' });
    expect([...filled.json.router_metadata.defaults].sort()).toEqual(['max_tokens', 'temperature', 'user']);
    const own = await named('d', definition, { temperature: 1, user: null, max_completion_tokens: 5 });
    expect(sent()).toMatchObject({ temperature: 1, max_completion_tokens: 5 });
    expect(sent()).not.toHaveProperty('max_tokens');
    expect(sent().user ?? null).toBe(null);
    expect(own.json.router_metadata.defaults).toEqual([]);
    await named('d', definition, { temperature: null });
    expect(sent()).not.toHaveProperty('temperature');
  });

  it('defaults reach a body of a megabyte, which another thread reads', async () => {
    const content = 'a'.repeat(1_000_000);
    const { json: answer } = await named(
      'd',
      { model: llama, defaults: { top_p: 0.5 } },
      { messages: [{ role: 'user', content }] },
    );
    expect(sent()).toMatchObject({ top_p: 0.5, messages: [{ content }] });
    expect(answer.router_metadata).toMatchObject({ name: 'd', defaults: ['top_p'] });
  });

  it('wishes of the name hold, and those of the request narrow them', async () => {
    const definition = { model: 'auto/meta/llama', provider: { regions: { allow: ['FR'] } } };
    const { json: answer } = await named('w', definition);
    expect(answer.router_metadata).toMatchObject({ locode: 'frpar', request_policy: false });
    const refused = await named('w', definition, { provider: { regions: { allow: ['DE'] } } });
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
      ...[403, 'routing_policy_exhausted', 'provider'],
    ]);
  });

  it('its chain takes the place of the saved one; one of the request wins', async () => {
    const { key } = await bench.gateway.createAccount();
    const saved = { fallback: { models: ['acme/meta/everywhere'] } };
    expect((await bench.gateway.call('PUT', '/v1/fallback', saved, { key })).status).toBe(200);
    await put('chained', { model: llama, fallback: { models: ['acme/meta/plain/defra'] } });
    const served = async (more: Json = {}) => {
      bench.upstream.enqueue(json({ error: { message: 'busy' } }, { status: 503 }));
      const { json: answer } = await bench.gateway.chat(ask({ model: 'chained', ...more }), { key });
      return answer.model;
    };
    expect(await served()).toBe('acme/meta/plain/defra');
    expect(await served({ fallback: { models: ['acme/meta/free/defra'] } })).toBe('acme/meta/free/defra');
    const names = await bench.gateway.call('PUT', '/v1/fallback', { fallback: { models: ['chained'] } }, { key });
    expect(names.json.error.code).toBe('invalid_fallback_model');
  });

  it('the scope of a key is judged by the target, or by the name', async () => {
    await put('scoped', { model: 'acme/meta/plain/defra' });
    const { accountId } = await bench.gateway.account();
    const keyFor = (allowed_models: string[]) =>
      bench.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k', allowed_models });
    const statusWith = async (allowed: string[]) => {
      const { json: made } = await keyFor(allowed);
      return (await bench.gateway.chat(ask({ model: 'scoped' }), { key: made.token })).status;
    };
    expect(await statusWith(['acme/meta/plain'])).toBe(200);
    expect(await statusWith(['scoped'])).toBe(200);
    expect(await statusWith(['acme/meta/llama'])).toBe(403);
    const { json: byName } = await keyFor(['scoped']);
    expect((await bench.gateway.chat(ask(), { key: byName.token })).status).toBe(403);
    expectError(await keyFor(['no-such-name']), refusal('invalid_request_error', 'allowed_models'));
  });

  it('GET /v1/models has names with a target that can be served', async () => {
    await put('listed/pin', { model: 'acme/meta/llama' });
    await put('listed-auto', { model: 'auto/meta/llama' });
    await put('listed-unpriced', { model: 'acme/meta/unpriced/defra' });
    const { json: list } = await bench.gateway.call('GET', '/v1/models');
    const entry = (id: string) => list.data.find((each: Json) => each.id === id);
    expect(entry('listed/pin')).toEqual({ ...entry(llama), id: 'listed/pin', name_of: llama });
    expect(entry('listed-auto')).toEqual({
      ...entry('auto/meta/llama'),
      id: 'listed-auto',
      name_of: 'auto/meta/llama',
    });
    expect(entry('listed-unpriced')).toBeUndefined();
    const one = (id: string) => bench.gateway.call('GET', `/v1/models/${id}`);
    expect((await one('listed/pin')).json).toEqual(entry('listed/pin'));
    expect((await one('listed-unpriced')).status).toBe(404);
  });

  it('explain knows the name, its target and its defaults', async () => {
    await put('explained', { model: 'acme/meta/llama', defaults: { top_p: 0.5 } });
    const { json: answer } = await bench.gateway.call('POST', '/v1/routes/explain', ask({ model: 'explained' }));
    expect(answer).toMatchObject({
      ...{
        requested_model: 'explained',
        name: 'explained',
        defaults: ['top_p'],
        resolved: [llama],
        would_serve: llama,
      },
    });
  });

  it('every API knows names, with the defaults in its own words', async () => {
    const definition = { model: llama, defaults: { temperature: 1.5, max_tokens: 77, stop: 'END', verbosity: 'low' } };
    await put('every', definition);
    const responses = await bench.gateway.chat({ model: 'every', input: 'Hi' }, { path: '/v1/responses' });
    expect(responses.status, responses.text).toBe(200);
    expect(responses.json.max_output_tokens).toBe(77);
    expect(responses.json.router_metadata.defaults).toContain('max_output_tokens');
    expect(sent()).toMatchObject({ temperature: 1.5 });
    const own = { model: 'every', input: 'Hi', max_output_tokens: 9 };
    expect((await bench.gateway.chat(own, { path: '/v1/responses' })).json.max_output_tokens).toBe(9);
    const without = await bench.gateway.chat({ model: 'every', messages }, { path: '/v1/messages' });
    expect([without.status, without.json.error.param]).toEqual([400, 'max_tokens']);
    const written = { model: 'every', messages, max_tokens: 5 };
    const answer = await bench.gateway.chat(written, { path: '/v1/messages' });
    expect(answer.status, answer.text).toBe(200);
    expect(sent()).toMatchObject({ temperature: 1, stop: ['END'] });
    const others = { top_logprobs: 2, frequency_penalty: 1, top_k: 3, prompt_cache_key: 'k', tool_choice: 'required' };
    await put('others', { model: llama, defaults: { ...others, metadata: { team: 't' }, temperature: 0.5 } });
    const kept = await bench.gateway.chat({ model: 'others', input: 'Hi' }, { path: '/v1/responses' });
    expect(kept.status, kept.text).toBe(200);
    expect(kept.json.router_metadata.omitted).toEqual(expect.arrayContaining(['top_logprobs', 'tool_choice']));
    expect(kept.json.tool_choice).toBe('auto');
    expect([sent().temperature, sent().top_logprobs, sent().tool_choice]).toEqual([0.5, undefined, undefined]);
    const asked = { model: 'others', input: 'Hi', top_logprobs: 2 };
    const refused = await bench.gateway.chat(asked, { path: '/v1/responses' });
    expect([refused.status, refused.json.error?.param]).toEqual([400, 'top_logprobs']);
    const message = await bench.gateway.chat({ model: 'others', messages, max_tokens: 5 }, { path: '/v1/messages' });
    expect(message.status, message.text).toBe(200);
    expect(message.json.router_metadata.omitted).toEqual(expect.arrayContaining(['top_k', 'tool_choice']));
    expect([sent().temperature, sent().top_k]).toEqual([0.5, undefined]);
    bench.upstream.enqueue(
      json({ object: 'list', data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
    await put('vectors', { model: 'auto/meta/vectors', defaults: { dimensions: 2, temperature: 1 } });
    const vectors = await bench.gateway.chat({ model: 'vectors', input: 'a' }, { path: '/v1/embeddings' });
    expect([vectors.status, vectors.json.router_metadata?.defaults], vectors.text).toEqual([200, ['dimensions']]);
  });

  it('fills the members that an object of the client lacks', async () => {
    const reply = async (path: string, body: Json) => {
      const answer = await bench.gateway.chat({ model: 'members', ...body }, { path });
      expect(answer.status, answer.text).toBe(200);
      return [...answer.json.router_metadata.defaults].sort();
    };
    const schema = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } };
    await put('members', { model: llama, defaults: { reasoning_effort: 'low', response_format: schema, user: 'u' } });
    const kept = { input: 'Hi', text: { verbosity: 'low' }, reasoning: { effort: 'high', summary: 'auto' } };
    expect(await reply('/v1/responses', kept)).toEqual(['text.format', 'user']);
    expect(sent()).toMatchObject({ reasoning_effort: 'high', response_format: { type: 'json_schema' }, user: 'u' });
    const empty = '{"model":"members","input":"Hi","te\\u0078t":{"format":null},"reasoning":{ },"user":null}';
    const escaped = await bench.gateway.chat(empty, { path: '/v1/responses' });
    expect(escaped.json.router_metadata?.defaults, escaped.text).toEqual(['reasoning.effort']);
    expect([sent().reasoning_effort, sent().response_format]).toEqual(['low', undefined]);
    const message = { messages, max_tokens: 5 };
    const own = { output_config: { effort: 'high' }, metadata: { team: 't' } };
    expect(await reply('/v1/messages', { ...message, ...own })).toEqual(['metadata.user_id', 'output_config.format']);
    expect(sent()).toMatchObject({ reasoning_effort: 'high', response_format: { type: 'json_schema' }, user: 'u' });
    const thinking = { type: 'disabled' };
    expect(await reply('/v1/messages', { ...message, thinking, metadata: null })).toEqual(['output_config']);
    expect([sent().reasoning_effort, sent().user]).toEqual([undefined, undefined]);
  });
});
