/** Every authenticated answer has the six headers with exact values, whatever the outcome of the request. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallOptions, Json, Reply, TestAccount } from '../../support/client.js';
import { shortTimeouts } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { RawConnection, requestBytes } from '../../support/raw-http.js';
import { completion, hang, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';
import { estimateOf, expectLimits, expectNoLimits } from './expect-headers.js';

const clock = new ManualClock();
const bench = useGateway({
  clock,
  config: {
    server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'cf-ipcountry' },
    limits: { key_requests_per_minute: 600, key_tokens_per_minute: 10_000, ip_requests_per_minute: 100_000 },
    timeouts: shortTimeouts,
  },
});
let account: TestAccount;
beforeEach(async () => {
  account = await bench.gateway.createAccount();
});

const requests = (used: number, reset = '1m0s', limit = 600) => ({ limit, remaining: limit - used, reset });
const tokens = (used: number, reset = '1m0s', limit = 10_000) => ({ limit, remaining: limit - used, reset });
const noTokens = tokens(0, '0s');

const chat = (more: Json = {}, options: CallOptions = {}) =>
  bench.gateway.chat(ask(more), { key: account.key, ...options });
const call = (method: string, path: string, body?: unknown) =>
  bench.gateway.call(method, path, body, { key: account.key });
const change = (fields: Json) => bench.gateway.admin('PATCH', `/accounts/${account.accountId}`, fields);

function expectStatus(reply: Pick<Reply, 'status' | 'text'>, status: number): void {
  expect(reply.status, reply.text).toBe(status);
}

describe('the six x-ratelimit headers', () => {
  it('count down by each request, and by the usage of each answer, on a whole 200', async () => {
    for (const times of [1, 2, 3]) {
      const reply = await chat();
      expectStatus(reply, 200);
      expectLimits(reply.headers, { requests: requests(times), tokens: tokens(12 * times) });
    }
  });

  it('have on a stream the estimate, since the usage comes after them, and the usage from the next answer on', async () => {
    bench.upstream.reply(sse(streamOf(['one', ' two'], { usage: usage(40, 2) })));
    const stream = await bench.gateway.stream(ask(), { key: account.key });
    expectStatus(stream, 200);
    expectLimits(stream.headers, { requests: requests(1), tokens: tokens(estimateOf()) });
    expectLimits((await call('GET', '/v1/key')).headers, { requests: requests(2), tokens: tokens(42) });
  });

  it('say when the window ends: whole seconds rounded up, milliseconds below one, each budget its own', async () => {
    const first = await call('GET', '/v1/key');
    expectLimits(first.headers, { requests: requests(1), tokens: noTokens });
    clock.advance(20_001);
    const second = await chat();
    expectLimits(second.headers, { requests: requests(2, '40s'), tokens: tokens(12) });
    clock.advance(39_500);
    const third = await call('GET', '/v1/key');
    expectLimits(third.headers, { requests: requests(3, '499ms'), tokens: tokens(12, '21s') });
    clock.advance(499);
    const fourth = await call('GET', '/v1/key');
    expectLimits(fourth.headers, { requests: requests(1), tokens: tokens(12, '21s') });
  });

  it.each([
    ['200', 'GET', '/v1/models', undefined, 200],
    ['201', 'POST', '/v1/aliases', { name: 'a', target: 'auto/meta/llama' }, 201],
    ['204', 'DELETE', '/v1/fallback', undefined, 204],
    ['400', 'POST', '/v1/aliases', { name: 'No' }, 400],
    ['404', 'GET', '/v1/aliases/nothing', undefined, 404],
    ['422', 'POST', '/v1/aliases', { name: 'a', target: 5 }, 422],
    ['explain', 'POST', '/v1/routes/explain', ask(), 200],
  ])('are on a resource’s %s', async (_, method, path, body, status) => {
    const reply = await call(method, path, body);
    expectStatus(reply, status);
    expectLimits(reply.headers, { requests: requests(1), tokens: noTokens });
  });

  const rejected = json({ error: { message: 'Unsupported parameter' } }, { status: 400 });
  const failed = json({ error: { message: 'out of order' } }, { status: 500 });

  it.each<[string, number, () => Promise<unknown>, () => Promise<Reply>]>([
    ['400 of a field', 400, async () => {}, () => chat({ temperature: 9 })],
    ['400 of a body', 400, async () => {}, () => bench.gateway.chat('{', { key: account.key })],
    ['400 of the provider', 400, async () => bench.upstream.reply(rejected), () => chat()],
    ['403 of a suspended account', 403, () => change({ status: 'suspended' }), () => chat()],
    ['404 of an id', 404, async () => {}, () => chat({ model: 'acme/meta/llama/zzzzz' })],
    ['451 of a billing country', 451, () => change({ billing_country: 'KP' }), () => chat()],
    ['503 of the provider', 503, async () => bench.upstream.reply(failed), () => chat()],
    ['503 of the configuration', 503, async () => {}, () => chat({ model: 'keyless/meta/llama/defra' })],
  ])('are on a %s, with nothing of it held', async (_, status, prepare, send) => {
    await prepare();
    const reply = await send();
    expectStatus(reply, status);
    const reset = bench.upstream.calls.length > 0 || status === 503 ? '1m0s' : '0s';
    expectLimits(reply.headers, { requests: requests(1), tokens: tokens(0, reset) });
  });

  it('are on a 402', async () => {
    account = await bench.gateway.createAccount({ credit: null });
    const reply = await chat();
    expectStatus(reply, 402);
    expectLimits(reply.headers, { requests: requests(1), tokens: noTokens });
  });

  it('are on a 403 of the routing policy', async () => {
    await call('PUT', '/v1/routing-policy', { providers: { allow: ['nobody'] } });
    const reply = await chat({ model: 'auto/meta/llama' });
    expectStatus(reply, 403);
    expectLimits(reply.headers, { requests: requests(2), tokens: tokens(0) });
  });

  it('are on a 504', async () => {
    bench.upstream.reply(hang());
    const pending = chat();
    await bench.upstream.waitForCalls(1);
    clock.advance(1_500);
    const reply = await pending;
    expectStatus(reply, 504);
    expectLimits(reply.headers, { requests: requests(1, '59s'), tokens: tokens(0, '59s') });
  });

  it.each(['/v1/chat/completions', '/v1/aliases'])('are on a 413 of %s', async (path) => {
    const headers = { authorization: `Bearer ${account.key}`, 'content-length': '33554433' };
    const connection = await RawConnection.open(bench.gateway.url);
    await connection.write(requestBytes('POST', path, { 'content-type': 'application/json', ...headers }));
    const reply = await connection.readUntil((received) => received.includes('}}'));
    connection.close();
    expect(reply.status).toBe(413);
    expectLimits(reply.headers, { requests: requests(1), tokens: noTokens });
  });

  it('are on both 429s of a key: nothing remains of the one that is used up, and the other is as it was', async () => {
    await change({ limits: { requests_per_minute: 3, tokens_per_minute: 10 } });
    expectStatus(await chat(), 200);
    const overTokens = await chat();
    expectStatus(overTokens, 429);
    const used = { ...tokens(10, '1m0s', 10) };
    expectLimits(overTokens.headers, { requests: requests(2, '1m0s', 3), tokens: used });
    await call('GET', '/v1/key');
    for (const overRequests of [await chat(), await call('GET', '/v1/key')]) {
      expectStatus(overRequests, 429);
      expectLimits(overRequests.headers, { requests: requests(3, '1m0s', 3), tokens: used });
    }
  });

  it('are on no answer before the key is known: 401, 404 and 405 of a path, 451 of a territory', async () => {
    const replies: [number, Reply][] = [
      [401, await chat({}, { key: null })],
      [401, await bench.gateway.call('GET', '/v1/key', undefined, { key: 'wrong' })],
      [404, await call('GET', '/v1/nothing')],
      [405, await call('DELETE', '/v1/chat/completions')],
      [451, await chat({}, { headers: { 'cf-ipcountry': 'CU' } })],
    ];
    for (const [status, reply] of replies) {
      expectStatus(reply, status);
      expectNoLimits(reply.headers);
    }
  });

  it('cost the tokens of a big answer, also beyond the limit, where nothing remains and never less than nothing', async () => {
    bench.upstream.reply(json(completion({ usage: usage(6_000, 6_000) })));
    const reply = await chat();
    expectStatus(reply, 200);
    expectLimits(reply.headers, { requests: requests(1), tokens: tokens(10_000) });
  });
});
