import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { json } from '../support/scripted-upstream.js';
import { type Asked, answerTo, fails, inputsOf, useTaskDoors, vectorOf } from './task-gateway.js';

const bench = useTaskDoors();
const balanceOf = async (key: string): Promise<string> =>
  (await bench.gateway.call('GET', '/v1/credits', undefined, { key })).json.data.balance_usd;

describe('embeddings', () => {
  const post = (body: unknown, options = {}) => bench.gateway.call('POST', '/v1/embeddings', body, options);
  const model = 'plain/acme/one-embeddings';
  const vector = [3, 0.5, -0.25];
  const lengthsOfCalls = () =>
    bench.upstream.calls.map((call) => inputsOf((call.json as Asked).input).length).sort((a, b) => a - b);

  it.each([
    ['a text', 'abc', 1],
    ['texts', ['abc', 'de'], 2],
    ['one text in a list', ['abc'], 1],
    ['tokens', [1, 2], 1],
    ['token lists', [[1], [2, 3]], 2],
  ])('takes %s, and sends them on as they are', async (_, input, count) => {
    const reply = await post({ model, input });
    expect(
      reply.json.data?.map(({ index }: Json) => index),
      reply.text,
    ).toEqual(Array.from({ length: count }, (_each, index) => index));
    expect(bench.upstream.calls[0]!.json).toEqual({ model: 'upstream-model', input });
  });

  it.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['an empty list', []],
    ['an empty entry', ['a', '']],
    ['an empty list of tokens', [[1], []]],
    ['texts among tokens', [[1], 'a']],
    ['tokens among texts', ['a', 1]],
    ['half a token', [1.5]],
    ['an object', { text: 'a' }],
    ['2,049 entries', Array.from({ length: 2_049 }, () => 'a')],
  ])('refuses %s as its input', async (_, input) => {
    expect(await post({ model, input })).toMatchObject({ status: 400, json: { error: { param: 'input' } } });
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each([
    ['dimensions', 0],
    ['dimensions', 1.5],
    ['dimensions', '3'],
    ['encoding_format', 'int8'],
    ['user', 1],
  ])('refuses %s: %j', async (param, value) => {
    expect(await post({ model, input: 'a', [param]: value })).toMatchObject({
      status: 400,
      json: { error: { param } },
    });
  });

  it('gives base64 and numbers, whatever the provider gives', async () => {
    const base64 = Buffer.from(new Float32Array(vector).buffer).toString('base64');
    expect((await post({ model, input: 'abc', encoding_format: 'base64' })).json.data[0].embedding).toBe(base64);
    const data = [{ object: 'embedding', index: 0, embedding: base64 }];
    bench.upstream.enqueue(json(answerTo({ input: ['abc'] }, { data })));
    expect((await post({ model, input: 'abc' })).json.data[0].embedding).toEqual(vector);
    expect(bench.upstream.calls.map((call) => (call.json as Json).encoding_format)).toEqual(['base64', undefined]);
  });

  it('sends `dimensions` and `user` on, and refuses vectors of another length', async () => {
    expect((await post({ model, input: 'abc', dimensions: 3, user: 'ü' })).status).toBe(200);
    expect(bench.upstream.calls[0]!.json).toMatchObject({ dimensions: 3, user: 'ü' });
    expect(await post({ model: 'plain/acme/bad-embeddings', input: 'abc', dimensions: 2 })).toMatchObject({
      status: 503,
      json: { error: { message: expect.stringContaining('3 numbers') } },
    });
  });

  it('400 without a code for a length that the model does not have; its own length is not sent', async () => {
    const refused = await post({ model: 'plain/acme/fixed', input: 'abc', dimensions: 2 });
    expect(refused).toMatchObject({ status: 400, json: { error: { param: 'dimensions' } } });
    expect(refused.json.error.code).toBeUndefined();
    expect((await post({ model: 'plain/acme/fixed', input: 'abc', dimensions: 3 })).status).toBe(200);
    expect(bench.upstream.calls.map((call) => call.json)).toEqual([{ model: 'upstream-model', input: 'abc' }]);
  });

  it.each([
    ['no list', { data: undefined }],
    ['a vector too few', { data: [{ index: 0, embedding: vector }] }],
    ['a vector without an index', { data: [{ embedding: vector }, { index: 1, embedding: vector }] }],
    ['an index twice', { data: [0, 0].map((index) => ({ index, embedding: vector })) }],
    ['an index that was not asked for', { data: [0, 2].map((index) => ({ index, embedding: vector })) }],
    ['no vector', { data: [0, 1].map((index) => ({ index })) }],
    ['an empty vector', { data: [0, 1].map((index) => ({ index, embedding: [] })) }],
    ['a vector of texts', { data: [0, 1].map((index) => ({ index, embedding: ['1'] })) }],
    ['vectors of two lengths', { data: [0, 1].map((index) => ({ index, embedding: vector.slice(index) })) }],
    ['an error in a 200', { error: { message: 'no' } }],
    ['a negative usage', { usage: { prompt_tokens: -1 } }],
  ])('%s is no answer: 503, and nothing is billed', async (_, more) => {
    const { key } = await bench.gateway.createAccount();
    bench.upstream.enqueue(json(answerTo({ input: ['a', 'b'] }, more)));
    const reply = await post({ model: 'plain/acme/bad-embeddings', input: ['a', 'b'] }, { key });
    expect(reply, reply.text).toMatchObject({ status: 503, json: { error: { code: 'provider_error' } } });
    expect(await balanceOf(key)).toBe('10');
  });

  it('splits what is too much for one call, and joins the answers in order', async () => {
    const input = Array.from({ length: 11 }, (_, at) => 'x'.repeat(11 - at));
    const reply = await post({ model: 'plain/acme/batch', input });
    expect(
      reply.json.data?.map(({ embedding }: Json) => embedding),
      reply.text,
    ).toEqual(input.map(vectorOf));
    expect(reply.json.data.map(({ index }: Json) => index)).toEqual(input.map((_, at) => at));
    expect(reply.json.usage.prompt_tokens).toBe(55);
    expect(lengthsOfCalls()).toEqual([2, 3, 3, 3]);
  });

  it.each([
    ['one-embeddings', [2_048]],
    ['long-1536', [2_048]],
    ['long-3072', [683, 1_365]],
  ])('splits no more than it must: %s', async (name, lengths) => {
    const reply = await post({ model: `plain/acme/${name}`, input: Array.from({ length: 2_048 }, () => 'a') });
    expect(reply.json.data, reply.text.slice(0, 300)).toHaveLength(2_048);
    expect(lengthsOfCalls()).toEqual(lengths);
  });

  it('bills the price of a request once, in however many calls it went out', async () => {
    const reply = await post({ model: 'plain/acme/by-request', input: Array.from({ length: 7 }, () => 'a') });
    expect(reply.json.usage, reply.text).toMatchObject({ cost: 0.002, cost_details: { request: '0.002' } });
    expect(bench.upstream.calls).toHaveLength(3);
  });

  it('bills tokens that the client sent by their number where the provider does not count', async () => {
    bench.upstream.onRequest(({ json: asked }) => json(answerTo(asked as Asked, { usage: undefined })));
    const reply = await post({ model, input: [[100_000, 2], [3]] });
    expect(reply.json.usage, reply.text).toMatchObject({ prompt_tokens: 3 });
  });

  it('says where `user` is left out, prefers routes that take it, and refuses where that is demanded', async () => {
    bench.upstream.onRequest(({ path, json: asked }) =>
      json(path === '/v1/embed' ? { embeddings: { float: [vector] } } : answerTo(asked as Asked)),
    );
    const asked = { model: 'wordless/acme/users', input: 'abc', user: 'u' };
    const pinned = await post(asked);
    expect(pinned.json.router_metadata, pinned.text).toMatchObject({ omitted: ['user'] });
    expect((await post({ ...asked, user: undefined })).json.router_metadata.omitted).toBeUndefined();
    const free = await post({ ...asked, model: 'auto/acme/users' });
    expect(free.json.router_metadata).toMatchObject({ served_model: 'plain/acme/users/defra' });
    expect(free.json.router_metadata.omitted).toBeUndefined();
    const strict = { headers: { 'x-lodestone-strict': 'true' } };
    const refused = await post(asked, strict);
    expect(refused, refused.text).toMatchObject({ status: 400, json: { error: { param: 'user' } } });
    expect(refused.json.error.code).toBeUndefined();
    expect((await post({ ...asked, model: 'auto/acme/users' }, strict)).json.model).toBe('plain/acme/users/defra');
  });

  it('a caller that leaves between calls gets no more of them sent', async () => {
    const { upstream } = bench;
    const input = Array.from({ length: 21 }, (_, at) => `text ${at}`);
    upstream.onRequest(({ json: asked }) =>
      json(answerTo(asked as Asked), inputsOf((asked as Asked).input)[0] === 'text 0' ? {} : { delayMs: 30_000 }),
    );
    const leaving = new AbortController();
    const leave = post({ model: 'plain/acme/batch', input }, { signal: leaving.signal }).catch(() => null);
    await upstream.waitForCalls(5, 20_000);
    leaving.abort();
    await leave;
    await upstream.waitFor(() => upstream.calls.filter(({ aborted }) => aborted).length === 4, 20_000);
    expect(upstream.calls).toHaveLength(5);
  });

  it('one part that fails fails the request, and nothing is billed', async () => {
    const { key } = await bench.gateway.createAccount();
    const input = Array.from({ length: 9 }, (_, at) => `text ${at}`);
    bench.upstream.onRequest(({ json: asked }) =>
      inputsOf((asked as Asked).input).includes('text 7') ? fails : json(answerTo(asked as Asked)),
    );
    expect(await post({ model: 'plain/acme/batch', input }, { key })).toMatchObject({ status: 503 });
    expect(await balanceOf(key)).toBe('10');
  });
});

describe('rerank', () => {
  const post = (body: unknown) => bench.gateway.call('POST', '/v1/rerank', body);
  const asked = { model: 'plain/acme/one-rerank', query: 'q', documents: ['a', 'ccc', 'bb'] };

  it('gives the most relevant first, as many as asked for, with documents where they are wanted', async () => {
    const reply = await post({ ...asked, top_n: 2, return_documents: true });
    expect(reply.json, reply.text).toMatchObject({
      id: expect.stringMatching(/^gen-/),
      results: [
        { index: 1, relevance_score: 0.3, document: { text: 'ccc' } },
        { index: 2, relevance_score: 0.2, document: { text: 'bb' } },
      ],
    });
    expect(reply.json.results).toHaveLength(2);
    expect((await post(asked)).json.results.map(({ index }: Json) => index)).toEqual([1, 2, 0]);
    expect(bench.upstream.calls.map((call) => call.json)).toEqual([
      { ...asked, model: 'upstream-model', top_n: 2 },
      { ...asked, model: 'upstream-model' },
    ]);
  });

  it('takes as few results as the client wants, and the score that the API names before another', async () => {
    const results = [{ index: 1, relevance_score: 0.3, score: 7 }];
    bench.upstream.enqueue(json(answerTo(asked, { results })));
    const reply = await post({ ...asked, top_n: 1 });
    expect(reply.json.results, reply.text).toEqual([{ index: 1, relevance_score: 0.3 }]);
    bench.upstream.enqueue(json(answerTo(asked, { results })));
    expect((await post({ ...asked, model: 'plain/acme/bad-rerank', top_n: 2 })).status).toBe(503);
  });

  it('is billed by the searches that the provider counted', async () => {
    bench.upstream.enqueue(json(answerTo(asked, { usage: undefined, meta: { billed_units: { search_units: 2 } } })));
    const reply = await post({ ...asked, model: 'plain/acme/searches' });
    expect(reply.json.usage, reply.text).toMatchObject({
      search_units: 2,
      cost: 0.004,
      cost_details: { request: '0.004' },
    });
  });

  it.each([
    ['query', { query: '' }],
    ['query', { query: 1 }],
    ['documents', { documents: [] }],
    ['documents', { documents: [1] }],
    ['documents', { documents: [''] }],
    ['top_n', { top_n: 0 }],
    ['return_documents', { return_documents: 'yes' }],
  ])('refuses %s: %j', async (param, more) => {
    expect(await post({ ...asked, ...more })).toMatchObject({ status: 400, json: { error: { param } } });
  });

  it.each([
    ['no list', { results: undefined }],
    ['a result too few', { results: [{ index: 0, relevance_score: 1 }] }],
    ['an index twice', { results: [0, 0, 1].map((index) => ({ index, relevance_score: 1 })) }],
    ['a result too many', { results: [0, 1, 2, 2].map((index) => ({ index, relevance_score: 1 })) }],
    ['no score', { results: [0, 1, 2].map((index) => ({ index })) }],
    ['half a search', { meta: { billed_units: { search_units: 0.5 } } }],
  ])('%s is no answer: 503', async (_, more) => {
    bench.upstream.enqueue(json(answerTo(asked, more)));
    expect(await post({ ...asked, model: 'plain/acme/bad-rerank' })).toMatchObject({ status: 503 });
  });
});
