import { describe, expect, it } from 'vitest';
import { failureOf, innerError, noAnswer } from '../../tests/support/call-failures.js';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { retryAfterMs } from './call-failure.js';
import { effectOf, type Failure, type Meaning } from './classify/failure.js';
import { ResponseHead } from './transport/response.js';

const acme = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const route = {
  ...acme,
  baseUrl: 'https://eu.acme.example/v1',
  provider: { ...acme.provider, apiKey: 'sk-acme-provider-key' },
};
const refused = (status: number, body: unknown): Failure => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return failureOf({ kind: 'refused', status, head: new ResponseHead(status, []), body: Buffer.from(text) }, route);
};
const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe('a refusal means what its words say, whatever status it wears', () => {
  const cases: [Meaning, number, unknown][] = [
    ['rejected', 400, said('`top_k` is unsupported by this model')],
    [
      'rejected',
      400,
      said('This prompt is over the maximum context of the model', { code: 'context_length_exceeded' }),
    ],
    ['rejected', 422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs here' }] }],
    ['rejected', 501, said('Audio parts: not implemented')],
    ['rejected', 501, ''],
    ['rejected', 500, said('Image parts are not supported')],
    ['rejected', 400, said('Refused by content filter')],
    ['rejected', 400, ''],
    // What a message quotes are the caller's own words, and they must not hold a route or count against it.
    ['rejected', 400, said("Invalid schema for function 'get_daily_queue_report': an object is expected")],
    ['rejected', 400, said('Invalid value: "monthly". Supported values are: `low` and `high`.')],
    ['rejected', 400, said('The tool `billing_rate_limit` has no parameters')],
    ['quota', 429, said("You've used up your daily tokens, that's all for today")],
    ['capacity', 400, said('The request queue of this model is full')],
    ['capacity', 409, said('Concurrency limit of 4 reached')],
    ['capacity', 503, said('Model overloaded')],
    ['capacity', 529, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }],
    ['rate_limit', 429, ''],
    ['rate_limit', 400, said('Rate limit reached: 20 RPM')],
    ['rate_limit', 503, { message: 'Too many requests, slow down' }],
    ['quota', 429, said('Limit of 500000 tokens per day reached (TPD)')],
    ['quota', 403, said('Your daily allowance is used up')],
    ['billing', 429, said('You exceeded your current quota, see your plan', { code: 'insufficient_quota' })],
    ['billing', 402, said('Insufficient credits')],
    ['billing', 429, said('The monthly spending limit was hit')],
    ['auth', 401, ''],
    ['auth', 400, said('API key not valid')],
    ['auth', 403, said('Forbidden')],
    ['unknown_model', 404, ''],
    ['unknown_model', 400, said('The model `x` does not exist')],
    ['server_error', 500, ''],
    ['server_error', 408, ''],
    ['server_error', 504, 'upstream timed out'],
    ['server_error', 502, '<html><head><title>502 Bad Gateway</title></head></html>'],
    ['server_error', 403, '<!DOCTYPE html><html><body>rate limit per day</body></html>'],
    ['malformed', 302, ''],
    ['malformed', 301, said('The queue is full')],
  ];

  it.each(cases)('%s: %i %j', (meaning, status, body) => {
    const failure = refused(status, body);
    expect(failure).toMatchObject({ meaning, status });
    expect(failure.quote).toContain(body === '' || status === 302 ? `HTTP ${status}` : '');
    expect(failure.quote).not.toMatch(/<[a-z!/]/i);
  });

  it('reads words in envelopes of every shape', () => {
    for (const body of [
      said('Queue full'),
      { error: 'queue full' },
      [said('queue full')],
      { detail: [{ msg: 'queue full' }] },
      { a: { b: { c: 'queue full' } } },
      'queue full',
    ]) {
      expect(refused(400, body).meaning).toBe('capacity');
    }
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '"x"',
    '{',
    '{"error":{"message":{"toString":1}}}',
    '{"error":{"code":{"toString":1,"valueOf":1}}}',
    '['.repeat(60_000),
    '\0\u0001',
  ])('is never thrown by a body such as %j', (body) => {
    const failure = refused(500, body);
    expect(failure.meaning).toBe('server_error');
    expect(failure.quote).not.toBe('');
    expect(failure.quote.length).toBeLessThanOrEqual(500);
  });

  it('is understood however deep and wide its body is', () => {
    expect(refused(500, `${'['.repeat(5_000)}"queue full"${']'.repeat(5_000)}`).meaning).toBe('server_error');
    expect(refused(500, Array(20_000).fill(0)).meaning).toBe('server_error');
  });

  it('tells how long the upstream wants to be left alone, where it says so', () => {
    const head = new ResponseHead(429, ['Retry-After', '7']);
    const result = { kind: 'refused', status: 429, head, body: Buffer.alloc(0) } as const;
    expect(failureOf(result, route)).toMatchObject({ meaning: 'rate_limit', retryAfterMs: 7_000 });
    expect(refused(429, '')).not.toHaveProperty('retryAfterMs');
  });
});

describe('an error inside a 200 (wire pitfall 7)', () => {
  it.each<[Meaning, unknown]>([
    ['rejected', said('`n` is not supported')],
    ['rejected', said('odd', { code: 400 })],
    ['rejected', said('odd', { status: '422' })],
    ['capacity', said('The queue is full')],
    ['rate_limit', said('x', { code: '429' })],
    ['quota', said('tokens per day used up')],
    ['server_error', said('x')],
    ['server_error', said('x', { code: 200 })],
    ['server_error', { error: 'x' }],
    ['server_error', { error: {} }],
    ['server_error', said('x', { code: { toString: 1, valueOf: 1 } })],
    ['server_error', null],
    ['billing', said('Insufficient credits')],
    ['rejected', { promptFeedback: { blockReason: 'SAFETY' } }],
    ['quota', { success: false, errors: [{ code: 3036, message: 'x' }] }],
  ])('means %s: %j', (meaning, error) => expect(innerError(200, error, route)).toMatchObject({ meaning, status: 200 }));

  it('is judged by its own words, not by those of the answer around it', () => {
    const choice = {
      message: { content: 'unsupported, daily, queue' },
      delta: { content: 'not supported' },
      finish_reason: 'error',
    };
    expect(innerError(200, { choices: [choice] }, route)).toMatchObject({
      meaning: 'server_error',
      quote: 'it answered with an error',
    });
    expect(innerError(200, { choices: [null, { ...choice, error: said('queue full').error }] }, route)).toMatchObject({
      meaning: 'capacity',
      quote: 'queue full',
    });
    expect(innerError(200, { choices: [choice], error: { message: 'x', code: 429 } }, route).meaning).toBe(
      'rate_limit',
    );
  });

  it('is found where a stream was asked for and JSON came', () => {
    const body = (value: unknown) => Buffer.from(JSON.stringify(value));
    const malformed = (value: unknown) =>
      failureOf({ kind: 'malformed', status: 200, reason: 'no stream', body: body(value) }, route);
    expect(malformed(said('`n` is not supported'))).toMatchObject({ meaning: 'rejected' });
    expect(malformed({ choices: [] })).toMatchObject({ meaning: 'malformed', quote: 'no stream (HTTP 200)' });
    expect(malformed(null).meaning).toBe('malformed');
  });

  it.each<[Meaning, string]>([
    ['rejected', '[{"error":{"code":400,"message":"odd"}}]'],
    ['rejected', '{"object":"error","message":"odd","code":400}'],
    ['rejected', 'event: error\ndata: {"error":{"message":"`n` is not supported"}}\n\ndata: [DONE]\n\n'],
    ['quota', 'data: {"choices":[]}\r\n\r\ndata: {"error":"tokens per day used up"}\r\n\r\n'],
    ['server_error', '{"message":"odd"}'],
    ['malformed', 'data: [DONE]\n\n'],
    ['malformed', '{"choices":[]}'],
    ['malformed', '{"choices":[{"message":{"content":"not supported"}}],"message":"not supported"}'],
    ['malformed', '{"base_resp":{"status_code":0,"status_msg":"success"}}'],
    ['malformed', '<html>not supported</html>'],
    ['malformed', 'not supported'],
    ['malformed', ''],
  ])('is found in a body that is no answer: %s in %j', (meaning, body) => {
    expect(noAnswer(200, 'no answer', Buffer.from(body), route)).toMatchObject({ meaning, status: 200 });
  });

  it('is not looked for in what is too long to be one', () => {
    const body = Buffer.from(JSON.stringify(said('not supported'.repeat(10_000))));
    expect(failureOf({ kind: 'malformed', status: 200, reason: 'no stream', body }, route).meaning).toBe('malformed');
  });
});

describe('what is counted against a route', () => {
  it('is every failure but a rejection and a spent day', () => {
    const not: Meaning[] = ['rejected', 'quota'];
    const counted: Meaning[] = [
      'capacity',
      'rate_limit',
      'auth',
      'billing',
      'unknown_model',
      'server_error',
      'malformed',
      'connection',
      'timeout',
      'pricing_fault',
    ];
    expect([...not, ...counted].filter((meaning) => effectOf(meaning) === 'counted')).toEqual(counted);
    expect(not.map(effectOf)).toEqual(['none', 'held']);
  });
});

describe('other failures', () => {
  it('name the budget that expired and its deadline', () => {
    const failure = failureOf({ kind: 'timeout', status: null, budget: 'stream-idle', budgetMs: 90_000 }, route);
    expect(failure).toEqual({
      meaning: 'timeout',
      status: null,
      quote: 'the stream-idle budget of 1m30s expired',
      budget: { name: 'stream-idle', ms: 90_000 },
    });
  });

  it('of the connection do not name our upstream\u2019s address', () => {
    for (const reason of [
      'connect ECONNREFUSED 10.2.3.4:443 (ECONNREFUSED)',
      'getaddrinfo ENOTFOUND eu.acme.example (ENOTFOUND)',
      'connect ECONNREFUSED ::1:443',
    ]) {
      const { meaning, quote } = failureOf({ kind: 'connection', status: null, reason, code: '' }, route);
      expect(meaning).toBe('connection');
      expect(quote).toContain('[address]');
      expect(quote).not.toMatch(/10\.2|acme|::1/);
    }
  });

  it('never quote our provider key or address, wherever the upstream put them', () => {
    for (const body of [
      said('Bad key sk-acme-provider-key at https://eu.acme.example/v1/chat'),
      { detail: 'sk-acme-provider-key' },
      'raw sk-acme-provider-key',
      '<p>sk-acme-provider-key',
    ]) {
      expect(refused(400, body).quote).not.toMatch(/acme-provider|acme\.example/);
      expect(innerError(200, body, route).quote).not.toMatch(/acme-provider|acme\.example/);
    }
  });
});

const now = Date.parse('2026-08-01T12:00:00Z');
const after = (headers: Record<string, string>) => retryAfterMs((name) => headers[name], now);

describe('how long an upstream wants to be left alone', () => {
  it.each<[number | undefined, Record<string, string>]>([
    [20_000, { 'retry-after': '20' }],
    [500, { 'retry-after': '0.5' }],
    [1_500, { 'retry-after-ms': '1500' }],
    [1_500, { 'retry-after-ms': '1500', 'retry-after': '2' }],
    [2_000, { 'retry-after-ms': 'soon', 'retry-after': '2' }],
    [90_000, { 'retry-after': 'Sat, 01 Aug 2026 12:01:30 GMT' }],
    [30_000, { 'retry-after': 'Sat, 01 Aug 2026 12:01:30 GMT', date: 'Sat, 01 Aug 2026 12:01:00 GMT' }],
    [86_400_000, { 'retry-after': '86401' }],
    [86_400_000, { 'retry-after': 'Sat, 01 Aug 2099 12:01:30 GMT' }],
    [undefined, {}],
    [undefined, { 'retry-after': '' }],
    [undefined, { 'retry-after': '0' }],
    [undefined, { 'retry-after': '-5' }],
    [undefined, { 'retry-after': '1e3' }],
    [undefined, { 'retry-after': 'NaN' }],
    [undefined, { 'retry-after': 'Infinity' }],
    [undefined, { 'retry-after': 'soon' }],
    [undefined, { 'retry-after': 'Sat, 01 Aug 2026 11:59:00 GMT' }],
    [undefined, { 'retry-after': '9'.repeat(400) }],
  ])('is %s for %j', (ms, headers) => expect(after(headers)).toBe(ms));
});
