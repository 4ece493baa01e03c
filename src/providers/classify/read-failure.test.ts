import { describe, expect, it } from 'vitest';
import { refusals } from '../../../tests/faults/classification/all.js';
import { bodyText } from '../../../tests/faults/classification/case.js';
import { insides } from '../../../tests/faults/classification/inside.js';
import { full, scaled } from '../../../tests/support/scaled.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { type Evidence, readFailure } from './read-failure.js';

type Request = Record<string, unknown>;

const sentOf = (request: Request) => ({ texts: [JSON.stringify(request)], ours: ['acme-large'] });

function read(request: Request, status: number, body: unknown, headerCodes: string[] = []) {
  const evidence: Evidence = { status, body, headerCodes, providerId: 'acme', baseUrl: 'http://acme.example/v1' };
  return readFailure(evidence, sentOf(request));
}

const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
const ask = (content: string, more: Request = {}): Request => ({
  ...{ model: 'acme-large', messages: [{ role: 'user', content }], stream: false },
  ...more,
});

const daily = 'You have exceeded the daily token quota limit of this key';
const overloaded = 'The server is overloaded and its queue is full';
const unpaid = 'Insufficient credits: your account balance is too low';
const unknown = 'The requested model is not available, it does not exist';
const phrases = [daily, overloaded, unpaid, unknown];

const html = (text: string) => text.replace(/[ "'&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
const units = (text: string) =>
  text.replace(/[\s\S]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
const python = (text: string) => `'${text.replace(/'/g, "\\'")}'`;

/** How a provider may show what it was sent. */
const shapes: readonly [string, (text: string) => string][] = [
  ['as it is', (text) => text],
  ['in quotation marks', (text) => `"${text}"`],
  ['in quotation marks that do not close', (text) => `'${text}`],
  ['in upper case', (text) => text.toUpperCase()],
  ['in lower case', (text) => text.toLowerCase()],
  ['as a slug', (text) => text.toLowerCase().replace(/\W+/g, '-')],
  ['in JSON', (text) => JSON.stringify({ value: text })],
  ['in JSON in a string', (text) => JSON.stringify(JSON.stringify({ value: text }))],
  ['as \\u escapes', units],
  ['as doubled \\u escapes', (text) => units(text).replaceAll('\\', '\\\\')],
  ['as HTML', html],
  ['as HTML, twice', (text) => html(text).replaceAll('&', '&amp;')],
  ['URL-encoded', (text) => encodeURIComponent(text)],
  ['URL-encoded as a form', (text) => encodeURIComponent(text).replaceAll('%20', '+')],
  ['URL-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
  ['as Python prints it', python],
  ['as Python prints a dictionary', (text) => `{'input': ${python(text)}}`],
  ['with its lines joined', (text) => text.replaceAll(' ', '\\n')],
  ['cut at its end', (text) => text.slice(0, 44)],
  ['cut at its end, which is shown', (text) => `${text.slice(0, 40)}...`],
  ['cut at its beginning', (text) => `…${text.slice(4)}`],
  ['cut in the middle', (text) => `${text.slice(0, 24)}...${text.slice(-22)}`],
  ['cut in the middle, otherwise', (text) => `${text.slice(0, 30)}…${text.slice(-14)}`],
  ['between two words', (text) => `<${text}>`],
];

/** Where a request may have it, and the string that it then is. */
const places: readonly [string, (text: string) => Request, ((text: string) => string)?][] = [
  ['a message', (text) => ask(text)],
  ['a value', (text) => ask('Say hello.', { reasoning_effort: text })],
  ['a value that quotes', (text) => ask('Say hello.', { reasoning_effort: text }), (text) => `x' ${text} 'y`],
  ['a key', (text) => ask('Say hello.', { [text]: 1 })],
  ['the name of a tool', (text) => ask('Hi', { tools: [{ type: 'function', function: { name: text } }] })],
  [
    'the name of a property',
    (text) => ask('Hi', { tools: [{ function: { name: 'f', parameters: { properties: { [text]: {} } } } }] }),
  ],
  ['JSON in a string', (text) => ask('Hi', { tool_calls: [{ function: { arguments: JSON.stringify({ a: text }) } }] })],
];

describe.each(places)('a string of the request that is %s', (_, request, stringOf = (text: string) => text) => {
  it.each(shapes)('and comes back %s decides nothing', (_name, shape) => {
    for (const phrase of (full ? phrases : [daily, overloaded]).map(stringOf)) {
      const echo = shape(phrase);
      for (const text of [`Invalid value: ${echo}. Use another.`, `Bad input ${echo} at position 4`, echo]) {
        for (const status of [400, 422]) {
          expect([text, read(request(phrase), status, error(text))]).toEqual([
            text,
            { meaning: 'rejected', disputed: false },
          ]);
        }
        expect(read(request(phrase), 500, error(text)).meaning).toMatch(/^(?:server_error|rejected)$/);
      }
    }
  });

  it('and comes back as a code decides nothing', () => {
    const code = 'daily_quota_exceeded';
    for (const body of [error('No', { code }), error('No', { type: code.toUpperCase() }), { code, message: 'No' }]) {
      expect(read(request(code), 400, body)).toEqual({ meaning: 'rejected', disputed: false });
    }
    expect(read(request(code), 400, error('No'), ['DailyQuotaExceeded'])).toEqual({
      ...{ meaning: 'rejected', disputed: false },
    });
  });
});

describe('a part of a string', () => {
  const question = ask('Somebody told me: you have exceeded the daily token quota, what now?');

  it('that the error marks as quoted or cut is an echo', () => {
    for (const echo of ['"you have exceeded the daily token quota"', '…exceeded the daily token quota…']) {
      expect(read(question, 400, error(`Invalid content near ${echo}`)).meaning).toBe('rejected');
    }
  });

  it('that nothing marks may be the provider\u2019s: it decides the answer and nothing else', () => {
    const body = error('Sorry, you have exceeded the daily token quota of your plan');
    for (const status of [400, 429, 503]) {
      expect(read(question, status, body)).toEqual({ meaning: 'quota', disputed: true });
    }
    expect(read(ask('Say hello.'), 400, body)).toEqual({ meaning: 'quota', disputed: false });
  });
});

describe('words that the request has too', () => {
  it.each([
    ['capacity', 400, 'The engine is overloaded', 'Can a truck be overloaded?'],
    ['quota', 429, 'Your daily limit is reached', 'Write a Daily Bugle headline'],
    ['billing', 400, 'Insufficient credits', 'He had insufficient funds and gave credits'],
    ['unknown_model', 400, 'The model x does not exist', 'What model does not exist?'],
    ['quota', 429, '\u5f53\u65e5\u8c03\u7528\u6b21\u6570\u8d85\u9650', '\u5f53\u65e5\u662f\u4ec0\u4e48'],
    ['auth', 400, 'Your API key has been revoked', 'Was my api key revoked?'],
  ])('decide what is answered, but are not counted: %s', (meaning, status, text, content) => {
    expect(read(ask(content), status, error(text))).toEqual({ meaning, disputed: true });
    expect(read(ask('Say hello.'), status, error(text))).toEqual({ meaning, disputed: false });
  });

  it('take nothing from words of the provider that say the same', () => {
    const busy = error('The engine is overloaded. All workers are busy, the queue is full.');
    expect(read(ask('Is it overloaded?'), 400, busy)).toEqual({ meaning: 'capacity', disputed: false });
    expect(read(ask('What is a token?'), 400, error(daily))).toEqual({ meaning: 'quota', disputed: false });
  });

  it('take nothing from a status, and nothing from a code beside the message', () => {
    const request = ask('Rate limit, overloaded, daily quota, too many requests, overloaded_error');
    expect(read(request, 503, error('The engine is overloaded'))).toEqual({ meaning: 'capacity', disputed: false });
    expect(read(request, 429, error('Rate limit reached'))).toEqual({ meaning: 'rate_limit', disputed: false });
    for (const type of ['overloaded_error', 'engine_overloaded']) {
      expect(read(request, 400, error('No', { type }))).toEqual({ meaning: 'capacity', disputed: false });
    }
  });

  it('are the protocol\u2019s where every request has them', () => {
    const request = ask('Hi', { max_tokens: 5, tools: [{ function: { parameters: { required: ['city'] } } }] });
    expect(read(request, 400, error('The model acme-large does not exist'))).toEqual({
      ...{ meaning: 'unknown_model', disputed: false },
    });
  });

  it('are the client\u2019s where it chose a name of the protocol', () => {
    const text = 'Tool choice model was not found in the tools';
    const request = ask('Hi', { tool_choice: { type: 'function', function: { name: 'model' } } });
    expect(read(request, 400, error(text))).toEqual({ meaning: 'unknown_model', disputed: true });
  });

  it('count in an error inside a message too', () => {
    const text = 'Bad request: OpenAIException - {"code":"rate_limit_exceeded","message":"No"}';
    expect(read(ask('Say hello.'), 400, error(text))).toEqual({ meaning: 'rate_limit', disputed: false });
    expect(read(ask('Is the rate_limit exceeded or not?'), 400, error(text))).toEqual({
      meaning: 'rate_limit',
      disputed: true,
    });
    const named = error('Error code: 503 - no');
    expect(read(ask('Say hello.'), 200, named)).toEqual({ meaning: 'server_error', disputed: false });
  });
});

describe('an ordinary request takes nothing from what providers say', () => {
  const request: Request = {
    ...{ model: 'acme-large', stream: true, stream_options: { include_usage: true }, temperature: 0.2 },
    ...{ max_tokens: 400, reasoning_effort: 'low', response_format: { type: 'json_object' }, user: 'user-4711' },
    messages: [
      { role: 'system', content: 'You are a helpful assistant. Answer in JSON with the fields city and forecast.' },
      { role: 'user', content: 'What is the weather like in Paris and in Rome? Will it rain on Sunday?' },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"location":"Paris"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '{"celsius": 21, "condition": "sunny"}' },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Gets the weather at a location.',
          parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
        },
      },
    ],
  };

  it.each(refusals.map((one) => [one.name, one] as const))('%s', (_, one) => {
    const text = bodyText(one);
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {}
    if (/^\s*</.test(text)) return;
    const headerCodes = Object.entries(one.headers ?? {})
      .filter(([name]) => /errortype|error-code/.test(name))
      .map(([, value]) => value.split(':')[0]!);
    const evidence = { status: one.status, body, headerCodes, providerId: one.provider ?? 'acme', baseUrl: '' };
    const alone = readFailure(evidence);
    expect(alone.meaning).toBe(one.means);
    expect(readFailure(evidence, sentOf(request)).meaning).toBe(one.means);
  });

  it.each(insides.map((one) => [one.name, one] as const))('inside a 200: %s', (_, { means, error: body }) => {
    expect(read(request, 200, body).meaning).toBe(means);
  });
});

it('no part of a request, shown in whatever way, is ever counted under a 400', () => {
  const random = new SeededRandom(24);
  const templates = ['Invalid value: #', '# is not a valid value for effort', 'Bad input (got #). See the docs.', '#'];
  for (let i = 0; i < scaled(400, 1_000); i++) {
    const phrase = random.pick(phrases);
    const text = random.chance(0.5) ? `${random.pick(['Hm, ', 'x" ', "it's "])}${phrase}, or so they say.` : phrase;
    const from = random.chance(0.5) ? 0 : random.below(text.length - 10);
    const part = text.slice(from, random.chance(0.5) ? undefined : from + 10 + random.below(60));
    const shown = random.pick(shapes)[1](random.chance(0.3) ? part.toUpperCase() : part);
    const message = random.pick(templates).replace('#', () => shown);
    const { meaning, disputed } = read(random.pick(places)[1](text), 400, error(message));
    expect([message, meaning === 'rejected' || disputed]).toEqual([message, true]);
  }
});

it('costs by the lengths of error and request, whatever is in them', () => {
  const pieces = [
    'a',
    'ab',
    'overloaded ',
    'daily quota exceeded ',
    '\\',
    '%25',
    '&amp;',
    '"',
    '\\u0061',
    '{"',
    '\u65e5\u672c',
  ];
  read(ask('warm'), 400, error('warm'));
  for (const piece of pieces) {
    const content = piece.repeat(Math.ceil(48_000 / piece.length));
    const text = piece.repeat(Math.ceil(65_536 / piece.length));
    const started = threadTime().ranMs;
    read(ask(content), 400, error(text));
    read({ ...ask('x'), tools: Array.from({ length: 2_000 }, (_, i) => `${piece}overloaded ${i}`) }, 400, error(text));
    expect([piece, threadTime().ranMs - started < 600]).toEqual([piece, true]);
  }
});
