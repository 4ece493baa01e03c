import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../../tests/support/seeded-random.js';
import { AwsEventStreamReader } from './aws-event-stream.js';

function header(name: string, value: string, type = 7): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([type]),
    length,
    Buffer.from(value),
  ]);
}

function frame(headers: Buffer[], payload: string): Buffer {
  const head = Buffer.concat(headers);
  const body = Buffer.from(payload);
  const bytes = Buffer.alloc(16 + head.length + body.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, 12);
  body.copy(bytes, 12 + head.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}

const event = (type: string, payload: string) =>
  frame(
    [header(':event-type', type), header(':content-type', 'application/json'), header(':message-type', 'event')],
    payload,
  );
const exception = (type: string, payload: string) =>
  frame([header(':message-type', 'exception'), header(':exception-type', type)], payload);

function read(pieces: Buffer[]): { frames: [string, string][]; broken: string[]; reader: AwsEventStreamReader } {
  const frames: [string, string][] = [];
  const broken: string[] = [];
  const reader = new AwsEventStreamReader({
    onFrame: (text, start, end, name) => void frames.push([name, text.slice(start, end)]),
    onBroken: (reason) => void broken.push(reason),
  });
  for (const piece of pieces) {
    const lent = Buffer.from(piece);
    reader.read(lent);
    lent.fill(0);
  }
  reader.finish();
  return { frames, broken, reader };
}

describe('AWS\u2019s event stream', () => {
  it('is read the same however its bytes are split, and keeps no reference to reused bytes', () => {
    const bytes = Buffer.concat([
      event('messageStart', '{"role":"assistant"}'),
      event('contentBlockDelta', '{"delta":{"text":"Grüße 字"}}'),
      event('contentBlockDelta', '{}'),
      event('messageStop', ''),
      exception('throttlingException', '{"message":"slow"}'),
    ]);
    const whole = read([bytes]);
    expect(whole.frames.map(([name]) => name)).toEqual([
      'messageStart',
      'contentBlockDelta',
      'contentBlockDelta',
      'messageStop',
      'exception',
    ]);
    expect(Buffer.from(whole.frames[1]![1], 'latin1').toString('utf8')).toBe('{"delta":{"text":"Grüße 字"}}');
    expect(read([...bytes].map((byte) => Buffer.from([byte]))).frames).toEqual(whole.frames);
    forSeeds(50, (random) => expect(read(random.cuts(bytes)).frames).toEqual(whole.frames));
  });

  it.each([
    ['{"message":"slow \\u00e9"}', '{"error":{"__type":"throttlingException","message":"slow \\u00e9"}}'],
    ['{}', '{"error":{"__type":"throttlingException"}}'],
    ['', '{"error":{"__type":"throttlingException"}}'],
    ['[1]', '{"error":{"__type":"throttlingException"}}'],
    ['{"message":', '{"error":{"__type":"throttlingException"}}'],
  ])('an exception with the payload %s is an error that says its type', (payload, error) => {
    expect(read([exception('throttlingException', payload)]).frames).toEqual([['exception', error]]);
  });

  it('an error in the headers alone is one too', () => {
    const bytes = frame(
      [
        header(':message-type', 'error'),
        header(':error-code', 'InternalFailure'),
        header(':error-message', 'It "broke"'),
      ],
      '',
    );
    expect(read([bytes]).frames).toEqual([
      ['exception', '{"error":{"__type":"InternalFailure","message":"It \\"broke\\""}}'],
    ]);
  });

  it('passes over headers of every other type', () => {
    const others = [
      [0],
      [1],
      [2, 7],
      [3, 0, 7],
      [4, 0, 0, 0, 7],
      [5, 0, 0, 0, 0, 0, 0, 0, 7],
      [6, 0, 2, 1, 2],
      [8, 0, 0, 0, 0, 0, 0, 0, 7],
      [9, ...Array.from({ length: 16 }, () => 1)],
    ].map((value) => Buffer.from([1, 0x61, ...value]));
    expect(read([frame([...others, header(':event-type', 'x')], 'y')]).frames).toEqual([['x', 'y']]);
  });

  it('any flipped bit is found, and nothing after it is read', () => {
    const first = event('a', '{"n":1}');
    const second = event('b', '{"n":2}');
    for (let bit = 0; bit < second.length * 8; bit++) {
      const damaged = Buffer.from(second);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const { frames, broken } = read([first, damaged, first]);
      expect([frames, broken.length]).toEqual([[['a', '{"n":1}']], 1]);
    }
  });

  it.each([
    ['a length that nobody waits for', [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0], 'a frame that never ends'],
    ['a length below the least', [0, 0, 0, 15, 0, 0, 0, 0], 'a frame that is shorter than its parts'],
    ['a length below its parts', [0, 0, 0, 16, 0, 0, 0, 8], 'a frame that is shorter than its parts'],
  ])('%s is a broken frame', (_, lengths, reason) => {
    const bytes = Buffer.alloc(16);
    Buffer.from(lengths).copy(bytes);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 12)), 12);
    expect(read([bytes]).broken).toEqual([reason]);
  });

  it.each([[[5, 0x61]], [[1, 0x61, 10]], [[1, 0x61, 7, 0]], [[1, 0x61, 7, 0, 9, 0x61]]])(
    'headers that cannot be read (%j) are a broken frame',
    (bytes) => {
      expect(read([frame([Buffer.from(bytes)], '{}')]).broken).toEqual(['a frame with headers that cannot be read']);
    },
  );

  it('a frame that is cut off says nothing', () => {
    const bytes = Buffer.concat([event('a', '1'), event('b', '2')]);
    expect(read([bytes.subarray(0, -1)]).frames).toEqual([['a', '1']]);
  });

  it('reads no more once its consumer has enough', () => {
    let frames = 0;
    const reader = new AwsEventStreamReader({
      onFrame: () => {
        frames++;
        reader.stopped = true;
      },
      onBroken: () => {},
    });
    reader.read(Buffer.concat([event('a', '1'), event('b', '2')]));
    reader.read(event('c', '3'));
    expect(frames).toBe(1);
  });
});
