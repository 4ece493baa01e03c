import { afterEach, describe, expect, it } from 'vitest';
import {
  chunk,
  completion,
  encodedBytes,
  json,
  rawBytes,
  redirect,
  reset,
  type Script,
  sse,
  usage,
} from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, expectError, expectRefused, expectWalkFailed, newestRecord, useGateway } from '../harness.js';

const bench = useGateway({ models: [model('dead', [route({ base_url: 'http://127.0.0.1:1/v1' })])] });

const providerError = (...says: (string | RegExp)[]) => ({
  status: 503,
  type: 'provider_error',
  code: 'provider_error',
  says,
});

describe('503 model_unavailable: soft-disabled', () => {
  const setState = (body: object) => bench.gateway.admin('PUT', '/models/meta/llama/availability', body);
  afterEach(() => setState({ state: 'available' }));
  const row = { status: 503, type: 'provider_unavailable', code: 'model_unavailable', param: 'model' };

  it('names the reason where there is one, and no upstream is called', async () => {
    await setState({ state: 'soft_disabled', reason: 'being moved to new hardware' });
    await expectRefused(bench, ask(), { ...row, says: ['acme/meta/llama/defra', 'being moved to new hardware'] });
    await expectRefused(bench, ask({ model: 'auto/meta/llama' }), { ...row, says: ['being moved to new hardware'] });
  });

  it('says so without a reason too, and ends with the state', async () => {
    await setState({ state: 'soft_disabled' });
    await expectRefused(bench, ask(), { ...row, says: ['unavailable'] });
    await setState({ state: 'available' });
    expect((await bench.gateway.chat(ask())).status).toBe(200);
  });
});

describe('503 before any call: the route cannot be served', () => {
  const nothing = { upstreamCalls: 0, record: { attempts: [], providers_attempted: [] } };

  it('provider_not_configured names the provider', () =>
    expectWalkFailed(
      bench,
      ask({ model: 'keyless/meta/llama' }),
      {
        status: 503,
        type: 'provider_unavailable',
        code: 'provider_not_configured',
        says: ['keyless', 'credentials', 'operator'],
      },
      nothing,
    ));

  it('provider_error for a model that cannot be priced', () =>
    expectWalkFailed(
      bench,
      ask({ model: 'acme/meta/unpriced' }),
      providerError('acme/meta/unpriced/defra', 'cannot be priced'),
      nothing,
    ));
});

/** What the upstream does, and what the message must quote. */
const failures: [string, () => Script, string, string | RegExp][] = [
  [
    'HTTP 500 with a message',
    () => json({ error: { message: 'boom at line 3' } }, { status: 500 }),
    'server_error',
    'boom at line 3',
  ],
  [
    'HTTP 502 with a page',
    () =>
      json('<html><head><title>502 Bad Gateway</title></head><body><h1>x</h1></body></html>', {
        status: 502,
        headers: { 'content-type': 'text/html' },
      }),
    'server_error',
    '502 Bad Gateway',
  ],
  ['HTTP 503 without a body', () => json('', { status: 503 }), 'server_error', 'HTTP 503'],
  [
    'its own 504',
    () => json({ error: { message: 'gateway timeout' } }, { status: 504 }),
    'server_error',
    'gateway timeout',
  ],
  [
    'its own 408',
    () => json({ error: { message: 'you were slow' } }, { status: 408 }),
    'server_error',
    'you were slow',
  ],
  [
    'a rate limit, never a 429 of ours',
    () =>
      json(
        { error: { message: 'Rate limit reached for requests per minute' } },
        { status: 429, headers: { 'retry-after': '20' } },
      ),
    'rate_limit',
    'Rate limit reached',
  ],
  [
    'a capacity refusal as 400',
    () => json({ error: { message: 'The queue is full, too many concurrent requests' } }, { status: 400 }),
    'capacity',
    'queue is full',
  ],
  [
    'a capacity refusal as 429',
    () => json({ error: { message: 'Model is overloaded' } }, { status: 429 }),
    'capacity',
    'overloaded',
  ],
  [
    'bad credentials',
    () => json({ error: { message: 'Incorrect API key provided: sk-abcdefghijklmnop' } }, { status: 401 }),
    'auth',
    'Incorrect API key',
  ],
  [
    'an unknown model',
    () => json({ error: { message: 'The model `upstream-model` does not exist' } }, { status: 404 }),
    'unknown_model',
    'does not exist',
  ],
  ['a redirect, never followed', () => redirect('http://127.0.0.1:1/elsewhere'), 'malformed', 'HTTP 302'],
  ['a reset', () => reset(), 'connection', 'connection failed'],
  ['garbage instead of HTTP', () => rawBytes(['SSH-2.0-OpenSSH\r\n\r\n']), 'connection', 'connection failed'],
  [
    'a body cut short',
    () => rawBytes(['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"choices":']),
    'connection',
    'connection failed',
  ],
  [
    'an error inside a 200',
    () => json({ error: { message: 'internal fault 77', code: 500 } }),
    'server_error',
    'internal fault 77',
  ],
  ['a 200 of null', () => json('null'), 'malformed', 'not a JSON object'],
  ['a 200 of []', () => json('[]'), 'malformed', 'not a JSON object'],
  ['a 200 of no JSON', () => json('hello'), 'malformed', 'not JSON'],
  ['an empty 200', () => json(''), 'malformed', /HTTP 200/],
  ['a 200 without choices', () => json({ id: 'x' }), 'malformed', 'no choices'],
  [
    'a 200 of a page',
    () => json('<html><body>Welcome</body></html>', { headers: { 'content-type': 'text/html' } }),
    'malformed',
    /HTTP 200/,
  ],
  ['a broken gzip', () => encodedBytes(Buffer.from('not gzip'), 'gzip'), 'malformed', 'compressed'],
  [
    'a pricing fault: another model',
    () => json(completion({ model: 'upstream-other' })),
    'pricing_fault',
    'upstream-other',
  ],
  ['a pricing fault: negative tokens', () => json(completion({ usage: usage(-1, 3) })), 'pricing_fault', '-1'],
  ['a pricing fault: fractions of tokens', () => json(completion({ usage: usage(1, 0.5) })), 'pricing_fault', '0.5'],
  [
    'a pricing fault: audio tokens',
    () => json(completion({ usage: usage(9, 3, { completion_tokens_details: { audio_tokens: 2 } }) })),
    'pricing_fault',
    'audio_tokens',
  ],
  [
    'a pricing fault: tokens beyond 2^53',
    () => json(JSON.stringify(completion()).replace('"prompt_tokens":9', '"prompt_tokens":9007199254740993')),
    'pricing_fault',
    /9007199254740993|9007199254740992/,
  ],
];

describe('503 provider_error: the route failed upstream', () => {
  it.each(failures)(
    '%s: one call, provider named, failure quoted, no receipt, no Retry-After, nothing billed',
    async (_, script, outcome, quote) => {
      bench.upstream.reply(script());
      const record = await expectWalkFailed(bench, ask(), providerError('acme', quote), {
        upstreamCalls: 1,
        record: { providers_attempted: ['acme'], streamed: false, stream_end: null, usage_source: null },
      });
      expect(record.attempts).toEqual([
        expect.objectContaining({ provider: 'acme', locode: 'defra', outcome, error: expect.any(String) }),
      ]);
    },
  );

  it.each(failures.slice(0, 12))(
    'the same for a stream, before its first byte: %s',
    async (_, script, outcome, quote) => {
      const { gateway, upstream } = bench;
      const account = await gateway.account();
      upstream.reply(script());
      const before = await gateway.balance(account.accountId);
      const reply = await gateway.stream(ask());
      expectError(reply, providerError('acme', quote));
      expect(await gateway.balance(account.accountId)).toBe(before);
      expect(await newestRecord(gateway, account.key)).toMatchObject({
        status: 503,
        streamed: true,
        cost_usd: '0',
        stream_end: null,
        attempts: [expect.objectContaining({ outcome })],
      });
      expect(upstream.calls).toHaveLength(1);
    },
  );

  it('does not show credentials of ours that the upstream repeats', async () => {
    bench.upstream.reply(
      json({ error: { message: 'Incorrect API key provided: sk-abcdefghijklmnop' } }, { status: 401 }),
    );
    expect((await bench.gateway.chat(ask())).text).not.toContain('abcdefghijklmnop');
  });

  it.each([
    ['no frame at all', () => sse([]), 'ended before any content'],
    ['a frame that is no JSON', () => sse(['data: nonsense\n\n']), 'not JSON'],
    ['an error frame', () => sse([{ error: { message: 'fault 88', code: 500 } }]), 'fault 88'],
    ['a role frame and a cut', () => sse([chunk({ role: 'assistant' })], { cutAfter: 1 }), /connection|ended/],
    ['a whole JSON answer of an error', () => json({ error: { message: 'fault 99', code: 500 } }), 'fault 99'],
  ])('a stream of %s is an ordinary 503: the 200 waits for content (the commit rule)', async (_, script, quote) => {
    bench.upstream.reply(script());
    expectError(await bench.gateway.stream(ask()), providerError('acme', quote));
    expect(bench.upstream.calls).toHaveLength(1);
  });

  it('an upstream that is not there; its address is not shown', async () => {
    const reply = await bench.gateway.chat(ask({ model: 'acme/meta/dead' }));
    expectError(reply, providerError('acme', 'connection failed'));
    expect(reply.text).not.toContain('127.0.0.1');
    expect(bench.upstream.calls).toHaveLength(0);
  });
});
