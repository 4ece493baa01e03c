/** Requests that no HTTP library sends: bad heads, framing, floods, pipelines and callers that leave at once. */
import type { SeededRandom } from '../../support/seeded-random.js';
import { framingForms } from './framing-forms.js';
import {
  bearer,
  bytesOf,
  chatPath,
  type Expected,
  type Generator,
  type Input,
  jsonType,
  oneOf,
  type Target,
} from './input.js';
import { head, host, hostHeader, latin1, type RawCase, refused, requestLine, target } from './raw-heads.js';

/** Over 16 KiB in any form; under it, however many headers there are, they are taken. */
function flood(random: SeededRandom, { key }: Target): RawCase {
  const large = 16_385 + random.below(60_000);
  const tooLarge: Expected = { status: [431], code: ['headers_too_large'], closes: true };
  return random.pick<RawCase>([
    {
      what: 'one long header',
      bytes: latin1(`GET /healthz HTTP/1.1\r\n${host}a: ${'x'.repeat(large)}\r\n\r\n`),
      expected: tooLarge,
    },
    {
      what: 'one long name',
      bytes: latin1(`GET /healthz HTTP/1.1\r\n${host}${'x'.repeat(large)}: a\r\n\r\n`),
      expected: tooLarge,
    },
    { what: 'a long target', bytes: latin1(`GET /${'x'.repeat(large)} HTTP/1.1\r\n${host}\r\n`), expected: tooLarge },
    {
      what: 'a header without end',
      bytes: latin1(`GET /healthz HTTP/1.1\r\n${host}a: ${'x'.repeat(large)}`),
      expected: tooLarge,
    },
    {
      what: 'many headers',
      bytes: latin1(`GET /healthz HTTP/1.1\r\n${host}${'name: value\r\n'.repeat(4_000)}\r\n`),
      expected: tooLarge,
    },
    {
      what: 'a long bearer',
      bytes: bytesOf({ method: 'GET', path: '/v1/credits', headers: [bearer(`sk-lr-${'q'.repeat(8_000)}`)] }),
      expected: { status: [401], code: ['api_key_malformed'] },
    },
    {
      what: '2,000 headers with the names of prototypes',
      bytes: bytesOf({
        method: 'GET',
        path: '/v1/nothing',
        headers: [
          ...Array.from({ length: 1_000 }, () => ['__proto__', 'a'] as const),
          ['constructor', 'b'],
          bearer(key),
        ],
      }),
      expected: { status: [404] },
    },
  ]);
}

/** Forms in which two readers could find the end of a request in two places: refused, and nothing after them is read. */
function framing(random: SeededRandom, { key }: Target): RawCase {
  const { what, head: lines, body, version = '1.1' } = random.pick(framingForms);
  const smuggled = `GET /v1/smuggled HTTP/1.1\r\n${host}\r\n`;
  const start = `POST ${chatPath} HTTP/${version}\r\n${host}authorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
  return { what: `framing ${what}`, bytes: latin1(`${start}${lines}\r\n${body}${smuggled}`), expected: refused };
}

function expectation(random: SeededRandom, { key }: Target): RawCase {
  const headers = [bearer(key), jsonType];
  const post = (more: readonly (readonly [string, string])[], body: string) =>
    bytesOf({ method: 'POST', path: random.pick([chatPath, '/v1/aliases']), headers: [...headers, ...more], body });
  return random.pick<RawCase>([
    {
      what: 'another expectation',
      bytes: post([['expect', `x${random.below(9)}`]], '{}'),
      expected: { status: [417], closes: true },
    },
    {
      what: 'continue, then a bad body',
      bytes: post([['expect', '100-continue']], '[]'),
      expected: { status: [400], closes: true },
    },
    {
      what: 'a length of a gigabyte',
      bytes: bytesOf({
        method: random.pick(['POST', 'HEAD']),
        path: '/v1/aliases',
        headers: [...headers, ['content-length', '1000000000']],
      }),
      expected: { status: [413], code: ['request_too_large'] },
    },
    {
      what: 'an upgrade',
      bytes: post(
        [
          ['connection', 'upgrade'],
          ['upgrade', random.pick(['websocket', 'h2c', 'TLS/1.0'])],
        ],
        '[]',
      ),
      expected: { status: [400] },
    },
    {
      what: 'CONNECT',
      bytes: latin1(`CONNECT evil.test:443 HTTP/1.1\r\n${host}\r\n`),
      expected: { status: [404], closes: true },
    },
    {
      what: 'HTTP/1.0',
      bytes: latin1(`POST /v1/aliases HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}`),
      expected: { status: [401], closes: true },
    },
  ]);
}

/** Several requests at once, the last of them broken: each has its own answer, in order, and then the connection ends. */
function pipeline(random: SeededRandom, { key }: Target): RawCase {
  const requests = Array.from({ length: 1 + random.below(12) }, () =>
    random.pick([
      bytesOf({ method: 'GET', path: '/v1/nothing', headers: [] }),
      bytesOf({ method: 'HEAD', path: '/v1/nothing', headers: [] }),
      bytesOf({ method: 'POST', path: chatPath, headers: [bearer(key), jsonType], body: '[]' }),
      bytesOf({ method: 'POST', path: chatPath, headers: [], body: '{}' }),
      bytesOf({ method: 'DELETE', path: '/v1/aliases/nobody', headers: [bearer(key)] }),
    ]),
  );
  const bytes = Buffer.concat([...requests, latin1('NONSENSE\r\n\r\n')]);
  const methods = requests.map((request) => request.toString('latin1', 0, request.indexOf(' ')));
  return {
    what: `pipeline of ${methods.join(',')}`,
    bytes,
    expected: { status: [400, 401, 404], closes: true, answers: methods.length + 1 },
    methods,
  };
}

const cases = [
  [4, requestLine],
  [4, target],
  [3, head],
  [1, hostHeader],
  [1, flood],
  [5, framing],
  [2, expectation],
  [3, pipeline],
] as const;

export const rawInput: Generator = (random, destination) => {
  const { what, bytes, expected, methods } = oneOf<(random: SeededRandom, target: Target) => RawCase>(random, cases)(
    random,
    destination,
  );
  const first = bytes.toString('latin1', 0, Math.max(0, bytes.indexOf(' ')));
  return {
    family: 'raw',
    what,
    bytes,
    ...(random.chance(0.1) && bytes.length < 2_000 && { pieceBytes: 1 + random.below(60) }),
    kept: false,
    methods: methods ?? [first],
    path: '',
    expected,
  };
};

/** A caller that sends some of a bad request and is gone. */
export const leftInput: Generator = (random, destination, number): Input => {
  const { bytes, what } = oneOf<(random: SeededRandom, target: Target) => RawCase>(random, cases)(random, destination);
  const chat = bytesOf({
    method: 'POST',
    path: chatPath,
    headers: [bearer(destination.key), jsonType],
    body: `{"model":1,"messages":[],"x":"${'x'.repeat(random.below(2_000))}${number}"}`,
  });
  const whole = random.chance(0.5) ? bytes : chat;
  return {
    family: 'left',
    what: `left during ${what}`,
    bytes: whole.subarray(0, random.below(whole.length + 1)),
    kept: false,
    methods: [],
    path: '',
    leave: random.pick(['reset', 'close'] as const),
  };
};
