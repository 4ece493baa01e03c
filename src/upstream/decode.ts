/** Undoes an upstream's `content-encoding`, with a cap on what comes out (ruling 13). Asked or not, upstreams do compress. */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Decompress as ZstdDecompress } from 'fzstd';

export interface DecoderSink {
  onDecoded(chunk: Buffer): void;
  onDecodedEnd(): void;
  onUndecodable(reason: string): void;
}

export interface Decoder {
  write(chunk: Buffer): void;
  end(): void;
  destroy(): void;
}

export const decodedBytesMax = 64 * 1024 * 1024;

/** null where the encoding is none that can be decoded. */
export function createDecoder(encoding: string, sink: DecoderSink): Decoder | null {
  const capped = capOutput(sink);
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return streamDecoder(() => createGunzip(), capped);
    case 'deflate':
      return streamDecoder(inflate, capped);
    case 'br':
      return streamDecoder(() => createBrotliDecompress(), capped);
    case 'zstd':
      return zstdDecoder(capped);
    default:
      return null;
  }
}

function capOutput(sink: DecoderSink): DecoderSink {
  let total = 0;
  let over = false;
  return {
    onDecoded(chunk) {
      total += chunk.length;
      if (over) return;
      if (total <= decodedBytesMax) {
        sink.onDecoded(chunk);
      } else {
        over = true;
        sink.onUndecodable(`its compressed body is over ${decodedBytesMax} bytes`);
      }
    },
    onDecodedEnd: () => over || sink.onDecodedEnd(),
    onUndecodable: (reason) => over || sink.onUndecodable(reason),
  };
}

type Inflating = ReturnType<typeof createGunzip>;

/** `start` is given the first byte; a body of no bytes is decoded to one of no bytes, whatever its head says. */
function streamDecoder(start: (firstByte: number) => Inflating, sink: DecoderSink): Decoder {
  let stream: Inflating | null = null;
  const started = (firstByte: number): Inflating => {
    const inflating = start(firstByte);
    inflating.on('data', (chunk: Buffer) => sink.onDecoded(chunk));
    inflating.on('end', () => sink.onDecodedEnd());
    inflating.on('error', () => sink.onUndecodable('its compressed body is broken'));
    return inflating;
  };
  return {
    write(chunk) {
      if (chunk.length === 0) return;
      stream ??= started(chunk[0]!);
      stream.write(chunk);
    },
    end() {
      if (stream) stream.end();
      else sink.onDecodedEnd();
    },
    destroy: () => stream?.destroy(),
  };
}

/** Many servers send bare deflate under this name; a zlib header always has 8 in its low bits. */
function inflate(firstByte: number): Inflating {
  return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

function zstdDecoder(sink: DecoderSink): Decoder {
  let destroyed = false;
  const stream = new ZstdDecompress((chunk) => {
    // It decodes all it is given in one go: throwing is the only way out of a bomb.
    if (destroyed) throw new Error('nothing more is wanted');
    sink.onDecoded(Buffer.from(chunk));
  });
  const guarded = (step: () => void) => {
    try {
      if (!destroyed) step();
    } catch {
      if (!destroyed) sink.onUndecodable('its compressed body is broken');
    }
  };
  return {
    write: (chunk) => guarded(() => stream.push(chunk)),
    end: () =>
      guarded(() => {
        stream.push(new Uint8Array(0), true);
        sink.onDecodedEnd();
      }),
    destroy: () => {
      destroyed = true;
    },
  };
}
