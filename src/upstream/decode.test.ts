import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { AnswerHead } from './answer-head.js';
import { createDecoder, type Decoder, decodedBytesMax } from './decode.js';

const text = '{"choices":[{"message":{"content":"Grüße"},"finish_reason":"stop"}]}';
/** The text above; Node 20 has no zstd of its own to make it with. */
const zstd = Buffer.from(
  'KLUv/QRoBQIAYgQPFMDrfgWV1/2SywZuE9bSr6yn6/ovcsi7Bvt71rrwI6kVU+dAnmel9YXvIWPImnncMyrdvB7FvtmolsxjAFWQ8gw=',
  'base64',
);
const encodings: [string, string, Buffer][] = [
  ['gzip', 'gzip', gzipSync(text)],
  ['gzip under its old name', 'x-gzip', gzipSync(text)],
  ['deflate', 'deflate', deflateSync(text)],
  ['bare deflate', 'deflate', deflateRawSync(text)],
  ['brotli', 'br', brotliCompressSync(text)],
  ['zstd', 'zstd', zstd],
];

interface Decoded {
  text: string;
  bytes: number;
  ends: number;
  faults: string[];
}

/** Decodes like a call does: it stops the decoder at the first fault. */
function decode(encoding: string, pieces: Buffer[]): Promise<Decoded> {
  return new Promise((resolve) => {
    const decoded: Decoded = { text: '', bytes: 0, ends: 0, faults: [] };
    const chunks: Buffer[] = [];
    const over = () => {
      decoder.destroy();
      decoded.text = decoded.bytes < 1_000 ? Buffer.concat(chunks).toString() : '';
      setImmediate(() => setImmediate(() => resolve(decoded)));
    };
    const decoder: Decoder = createDecoder(encoding, {
      onDecoded(chunk) {
        decoded.bytes += chunk.length;
        if (chunks.length < 100) chunks.push(chunk);
      },
      onDecodedEnd() {
        decoded.ends++;
        over();
      },
      onUndecodable(reason) {
        decoded.faults.push(reason);
        over();
      },
    })!;
    for (const piece of pieces) decoder.write(piece);
    decoder.end();
  });
}

/** `count` blocks that each stand for 128 KiB of zeros in four bytes. */
function zstdBomb(count: number): Buffer {
  const block = 128 * 1024;
  const bytes = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
  for (let i = 0; i < count; i++) {
    const header = (block << 3) | (1 << 1) | (i === count - 1 ? 1 : 0);
    bytes.push(header & 255, (header >> 8) & 255, (header >> 16) & 255, 0);
  }
  return Buffer.from(bytes);
}

describe('a compressed body (ruling 13)', () => {
  it.each(encodings)('in %s is decoded, however it is cut', async (_, encoding, bytes) => {
    const random = new SeededRandom(3);
    for (const pieces of [[bytes], random.cuts(bytes, 7), Array.from(bytes, (byte) => Buffer.from([byte]))]) {
      expect(await decode(encoding, pieces)).toEqual({ text, bytes: Buffer.byteLength(text), ends: 1, faults: [] });
    }
  });

  it.each(encodings)('in %s that breaks off, or is none, is a fault and no end', async (_, encoding, bytes) => {
    for (const broken of [bytes.subarray(0, bytes.length - 6), Buffer.from('{"plain":"json"}')]) {
      const { ends, faults } = await decode(encoding, [broken]);
      expect([ends, faults]).toEqual([0, ['its compressed body is broken']]);
    }
  });

  it.each(encodings)('in %s of no bytes is an empty body', async (_, encoding) => {
    expect(await decode(encoding, [])).toEqual({ text: '', bytes: 0, ends: 1, faults: [] });
  });

  it.each(['compress', 'gzip, br', 'aes128gcm', 'x'])('in %s cannot be decoded', (encoding) => {
    expect(createDecoder(encoding, { onDecoded() {}, onDecodedEnd() {}, onUndecodable() {} })).toBeNull();
  });

  it.each([
    ['gzip', 'gzip', () => gzipSync(Buffer.alloc(decodedBytesMax + 1))],
    ['zstd', 'zstd', () => zstdBomb(15_000)],
  ])('in %s that grows past the cap is stopped there, soon, and reported once', async (_, encoding, bomb) => {
    const bytes = bomb();
    const started = performance.now();
    const { bytes: got, ends, faults } = await decode(encoding, [bytes]);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(got).toBeLessThanOrEqual(decodedBytesMax);
    expect([ends, faults.length]).toEqual([0, 1]);
    expect(faults[0]).toContain(String(decodedBytesMax));
  });
});

describe('the head of an answer', () => {
  it.each([
    [['Content-Type', 'Text/Event-Stream; charset=utf-8'], true, ''],
    [['CONTENT-TYPE', 'text/event-stream'], true, ''],
    [['content-type', 'application/json', 'Content-Encoding', ' GZip '], false, 'gzip'],
    [['content-encoding', 'identity'], false, ''],
    [['x-type', 'text/event-stream'], false, ''],
    [[], false, ''],
    [['content-type'], false, ''],
  ])('%j is understood', (headers, isEventStream, encoding) => {
    const head = new AnswerHead(200, headers);
    expect([head.isEventStream, head.encoding, head.ok]).toEqual([isEventStream, encoding, true]);
  });

  it('is good from 200 to 299 only, and finds a header by its name', () => {
    expect([199, 200, 204, 299, 300, 302, 400, 999].map((status) => new AnswerHead(status, []).ok)).toEqual([
      false,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(new AnswerHead(200, ['A', '1', 'Retry-After', '5']).header('retry-after')).toBe('5');
    expect(new AnswerHead(200, ['A', '1']).header('retry-after')).toBeUndefined();
  });
});
