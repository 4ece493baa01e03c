import { describe, expect, it } from 'vitest';
import { refusals } from '../../../tests/faults/classification/all.js';
import { bodyText } from '../../../tests/faults/classification/case.js';
import { insides } from '../../../tests/faults/classification/inside.js';
import { failureOf, innerError, noAnswer } from '../../../tests/support/call-failures.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { ResponseHead } from '../transport/response.js';
import type { Meaning } from './failure.js';

const acme = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const routeOf = (id: string) => ({ ...acme, provider: { ...acme.provider, id } });

function meaningOf(status: number, body: string, headers: Record<string, string> = {}, id = 'acme'): Meaning {
  const head = new ResponseHead(status, Object.entries(headers).flat());
  return failureOf({ kind: 'refused', status, head, body: Buffer.from(body) }, routeOf(id)).meaning;
}

const message = (text: string, more: object = {}) => JSON.stringify({ error: { message: text, ...more } });

describe('what real providers say is understood, by whatever id they are known', () => {
  it.each(refusals.map((one) => [one.name, one] as const))('%s', (_, one) => {
    expect(meaningOf(one.status, bodyText(one), one.headers, one.provider)).toBe(one.means);
  });

  it.each(insides.map((one) => [one.name, one] as const))('inside a 200: %s', (_, { means, error }) => {
    expect(innerError(200, error, acme).meaning).toBe(means);
    expect(noAnswer(200, 'no answer', Buffer.from(JSON.stringify(error)), acme).meaning).toBe(means);
  });
});

describe('no word of the caller counts against a route or holds it', () => {
  it.each([
    message("Invalid schema for function 'daily quota exceeded, overloaded': None is not of type 'object'"),
    message('Unknown parameter: "daily limit exceeded".'),
    message('The value `insufficient credits` is not one of `a` and `b`'),
    message('tools.0.function.parameters.properties.queue.full: expected an object'),
    message('metadata.billing_hard_limit must be a string'),
    message('Unrecognized request argument supplied: requests_per_day_limit_reached'),
    message('Invalid tool arguments: {"error":{"message":"daily quota exceeded","code":429}}'),
    message('Bad value. Input: your daily token quota is exceeded, invalid api key'),
    message('Bad text "which is cut off: daily token quota exceeded'),
    message('odd', { param: 'daily_limit_exceeded', failed_generation: 'daily quota exceeded' }),
    JSON.stringify({
      detail: [
        {
          type: 'string_type',
          loc: ['body', 'daily limit reached'],
          msg: 'Input should be a string',
          input: { error: 'Daily token quota exceeded' },
        },
      ],
    }),
    JSON.stringify({ error: { message: 'odd', request: { messages: [{ content: 'overloaded' }] } } }),
  ])('in a rejection: %s', (body) => {
    for (const status of [400, 413, 422]) expect(meaningOf(status, body)).toBe('rejected');
  });

  it.each([
    message('Worker failed on prompt "this parameter is not supported, tokens per day exceeded"'),
    message('Worker failed. Prompt: why is the context length exceeded and my daily quota reached?'),
    message('Worker failed on `unsupported daily quota exceeded`'),
    message('odd', { input: 'daily quota exceeded' }),
  ])('in a server\u2019s failure: %s', (body) => {
    expect(meaningOf(500, body)).toBe('server_error');
    expect(meaningOf(503, body)).toBe('server_error');
  });
});

describe('a daily quota', () => {
  it.each<[Meaning, string]>([
    ['quota', 'Requests per day limit exceeded'],
    ['quota', 'Limit: 200 / day'],
    ['quota', 'You have used your daily allocation'],
    ['quota', 'Rate limit of 150 per 86400s exceeded'],
    ['quota', 'You hit the maximum number of requests in a 24 hour period'],
    ['quota', 'The quota of the day is used up, it resets at midnight UTC'],
    ['quota', 'rate limit: limit_rpd/x/y'],
    ['quota', 'Key limit exceeded (daily limit)'],
    ['quota', '\u5f53\u65e5\u8c03\u7528\u6b21\u6570\u8d85\u9650'],
    ['rate_limit', '60 requests per minute reached (also 10000 per day)'],
    ['rate_limit', 'Too many requests. Limits: 60/minute, 10000/day'],
    ['rate_limit', 'Rate limit reached on tokens per minute. Upgrade to the next tier today'],
    ['rate_limit', 'Rate limit reached, retry after 86400 seconds'],
    ['billing', 'The monthly quota is used up, it renews in 12 days'],
    ['billing', 'The weekly usage limit is reached'],
    ['billing', 'The 5-hour usage limit is reached'],
    ['billing', 'Quota exceeded, limit: 0 per day'],
  ])('%s: %s', (meaning, text) => {
    expect(meaningOf(429, message(text))).toBe(meaning);
    expect(innerError(200, { error: { code: 429, message: text } }, acme).meaning).toBe(meaning);
  });

  it('is told under any status, but not by a mere word in a rejection', () => {
    for (const status of [400, 402, 403, 422, 429, 500, 503]) {
      expect(meaningOf(status, message('Daily token quota exceeded'))).toBe('quota');
    }
    expect(meaningOf(400, message('the daily digest is not a valid tool'))).toBe('rejected');
    expect(meaningOf(400, message('recency must be one of hour, day, week'))).toBe('rejected');
  });
});

describe('a status', () => {
  it.each<[Meaning, number[]]>([
    ['auth', [401, 403, 407, 451]],
    ['billing', [402]],
    ['unknown_model', [404, 410]],
    ['rate_limit', [420, 429]],
    ['capacity', [425, 529]],
    ['rejected', [400, 413, 414, 415, 416, 422, 498, 501]],
    [
      'server_error',
      [405, 406, 408, 409, 411, 412, 417, 421, 423, 424, 426, 431, 499, 500, 502, 503, 504, 520, 524, 599],
    ],
    ['malformed', [300, 302, 304, 307]],
  ])('that says nothing more means %s: %j', (meaning, statuses) => {
    for (const status of statuses) expect([status, meaningOf(status, '')]).toEqual([status, meaning]);
  });

  it('that an error names is believed under a server\u2019s status, and under none', () => {
    expect(meaningOf(500, message('odd', { code: 400 }))).toBe('rejected');
    expect(meaningOf(500, message('odd', { type: 'invalid_request_error' }))).toBe('rejected');
    expect(meaningOf(424, JSON.stringify({ message: 'odd', originalStatusCode: 429 }))).toBe('rate_limit');
    expect(meaningOf(502, message('Bad gateway', { type: 'invalid_request_error' }))).toBe('server_error');
    expect(meaningOf(403, message('odd', { code: 400, type: 'invalid_request_error' }))).toBe('auth');
    expect(meaningOf(429, message('odd', { code: 400 }))).toBe('rate_limit');
  });

  it('of a page is not explained by the words on the page', () => {
    const page = '<!DOCTYPE html><html><body>daily quota exceeded, not supported</body></html>';
    for (const status of [400, 403, 429, 502]) expect(meaningOf(status, page)).toBe('server_error');
    expect(meaningOf(413, page)).toBe('rejected');
  });
});

it('costs by the length of the text, whatever is in it', () => {
  const pieces = [
    'model ',
    'queue ',
    '"',
    "'",
    "\\'",
    '`',
    '{"',
    "{'a':",
    'a_',
    'a.b',
    'per day ',
    'limit ',
    'input: ',
    'http://',
    'credits ',
    'api key ',
    'A',
    ' ',
  ];
  meaningOf(400, message('warm'));
  for (const piece of pieces) {
    const text = piece.repeat(65_536 / piece.length);
    for (const body of [text, message(text)]) {
      const started = threadTime().ranMs;
      for (const status of [400, 429, 500]) meaningOf(status, body);
      expect([piece, threadTime().ranMs - started < 600]).toEqual([piece, true]);
    }
  }
});
