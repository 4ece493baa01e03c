import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { createDecoder, type Decoder, decodedBytesMax, encodedBytesMax } from './decode.js';
import { ResponseHead } from './response.js';

const text = '{"choices":[{"message":{"content":"Grüße"},"finish_reason":"stop"}]}';
const encodings: [string, string, Buffer][] = [
  ['gzip', 'gzip', gzipSync(text)],
  ['gzip under its old name', 'x-gzip', gzipSync(text)],
  ['deflate', 'deflate', deflateSync(text)],
  ['bare deflate', 'deflate', deflateRawSync(text)],
  ['brotli', 'br', brotliCompressSync(text)],
];

const noSink = { onDecoded: () => true, onDecodedEnd() {}, onUndecodable() {}, onDrained() {} };

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
        return true;
      },
      onDrained() {},
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

describe('a compressed body', () => {
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
    expect(createDecoder(encoding, noSink)).toBeNull();
  });

  it('that grows past the cap is stopped there, soon, and reported once', async () => {
    const bytes = gzipSync(Buffer.alloc(decodedBytesMax + 1));
    const { bytes: got, ends, faults } = await decode('gzip', [bytes]);
    expect(got).toBeLessThanOrEqual(decodedBytesMax);
    expect([ends, faults]).toEqual([0, [`its decompressed body is over ${decodedBytesMax} bytes`]]);
  });

  it('of more bytes than the cap is stopped there, whatever they stand for', async () => {
    const name = Array.from({ length: 520 }, () => Buffer.alloc(64 * 1024, 'x'));
    const { ends, faults } = await decode('gzip', [Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), ...name]);
    expect([ends, faults]).toEqual([0, [`its compressed body is over ${encodedBytesMax} bytes`]]);
  });

  it('with a window over 8 MiB is not decoded', async () => {
    const bytes = brotliCompressSync(Buffer.alloc(20_000_000), {
      params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 1 },
    });
    expect(await decode('br', [bytes])).toMatchObject({ bytes: 0, faults: [expect.stringContaining('8 MiB')] });
  });

  it('may be padded after its end', async () => {
    const padded = [gzipSync(text), Buffer.alloc(100), Buffer.alloc(100_000)];
    expect(await decode('gzip', padded)).toMatchObject({ text, ends: 1, faults: [] });
  });

  it('comes no faster than its reader takes it, and holds its writer back meanwhile', async () => {
    let given = 0;
    let drained = 0;
    const ended = new Promise<void>((resolve, reject) => {
      const decoder = createDecoder('gzip', {
        onDecoded(chunk) {
          given += chunk.length;
          if (given < 100_000) setTimeout(() => decoder.resume(), 5);
          return given >= 100_000;
        },
        onDecodedEnd: resolve,
        onUndecodable: reject,
        onDrained: () => void drained++,
      })!;
      expect(decoder.write(gzipSync(Buffer.alloc(1_000_000), { level: 0 }))).toBe(false);
      setImmediate(() => expect(given).toBeLessThan(50_000));
      decoder.end();
    });
    await ended;
    expect([given, drained]).toEqual([1_000_000, 0]);
  });
});

describe('the head of an answer', () => {
  it.each([
    [['Content-Type', 'Text/Event-Stream; charset=utf-8'], true, ''],
    [['CONTENT-TYPE', 'text/event-stream'], true, ''],
    [['content-type', 'application/json', 'Content-Encoding', ' GZip '], false, 'gzip'],
    [['content-encoding', 'identity'], false, ''],
    [['content-encoding', 'br', 'content-encoding', 'gzip'], false, 'br,gzip'],
    [['x-type', 'text/event-stream'], false, ''],
    [[], false, ''],
    [['content-type'], false, ''],
  ])('%j is understood', (headers, isEventStream, encoding) => {
    const head = new ResponseHead(200, headers);
    expect([head.isEventStream, head.encoding, head.ok]).toEqual([isEventStream, encoding, true]);
  });

  it('is good from 200 to 299 only, and finds a header by its name', () => {
    expect([199, 200, 204, 299, 300, 302, 400, 999].map((status) => new ResponseHead(status, []).ok)).toEqual([
      false,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(new ResponseHead(200, ['A', '1', 'Retry-After', '5']).header('retry-after')).toBe('5');
    expect(new ResponseHead(200, ['A', '1']).header('retry-after')).toBeUndefined();
  });
});
