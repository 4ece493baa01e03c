import { expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import { type Head, parseHead } from './parse-head.js';
import { scanHead } from './response.js';

const statusLines = [
  'HTTP/1.1 200',
  'HTTP/1.1 204 No',
  'HTTP/1.0 200 OK',
  'http/1.1 200 OK',
  'HTTP/1.1 2000',
  'HTTP/1.1 404 No',
];
const names = [
  ...[
    'content-length',
    'Content-Length',
    'content-type',
    'connection',
    'keep-alive',
    'content-encoding',
    'transfer-encoding',
  ],
  ...['date', 'set-cookie', 'x-request-id', 'x-envoy-upstreams', 'x y', '', 'é'],
];
const values = [
  ...[
    '5',
    '007',
    ' 12 ',
    '-1',
    '1e3',
    '99999999999',
    'application/json',
    'Application/JSON',
    'text/event-stream; a=b',
    'keep-alive',
  ],
  ...['close', 'timeout=5', 'Chunked', 'gzip', '', 'a\tb', 'é', '\u00a0json', 'a\u0001', 'a\rb', 'a\nb'],
];

function headText(random: SeededRandom): string {
  const lines = [random.below(4) > 0 ? 'HTTP/1.1 200 OK' : random.pick(statusLines)];
  for (let left = random.below(5); left > 0; left--)
    lines.push(`${random.pick(names)}${random.pick([':', ': ', ' :'])}${random.pick(values)}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** What the gateway uses of the head of a good answer. */
function usedOf({ headers, ...others }: Head): object {
  let type: string | undefined;
  headers.forEach((name, i) => {
    if (i % 2 === 0 && name.toLowerCase() === 'content-type') type = headers[i + 1]!.toLowerCase();
  });
  return { ...others, type };
}

it('a head that is scanned is what the parser reads, and ends there', () => {
  let scanned = 0;
  forSeeds(5_000, (random) => {
    const text = headText(random);
    const found = scanHead(Buffer.from(text + random.pick(['', '{}', '\r\n\r\n']), 'latin1'));
    if (found === null) return;
    scanned++;
    const { bodyStart, ...head } = found;
    expect(usedOf(head), JSON.stringify(text)).toEqual(usedOf(parseHead(text.slice(0, -4))));
    expect(bodyStart).toBe(text.length);
    expect(scanHead(Buffer.from(text.slice(0, -1), 'latin1')), 'before its end').toBeNull();
  });
  expect(scanned).toBeGreaterThan(50);
});

it.each([
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n',
  'HTTP/1.1 200 OK\r\nDate: x\r\nContent-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n',
])('the usual head is scanned', (text) => expect(scanHead(Buffer.from(text))).not.toBeNull());
