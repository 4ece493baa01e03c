/** Builds AWS event-stream bytes, and runs a translator over them however the bytes are split. */
import type { Dialect } from '../../src/providers/dialects/dialect.js';
import { AwsEventStreamReader } from '../../src/providers/transport/aws-event-stream.js';

/** The checksum bit by bit, so that the reader's is not checked against itself. */
function checksum(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return (rest ^ 0xffffffff) >>> 0;
}

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export function eventStreamFrame(headers: Record<string, string>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => {
      const text = Buffer.from(value);
      return [
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7, text.length >> 8, text.length & 255]),
        text,
      ];
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.concat([word(16 + head.length + body.length), word(head.length)]);
  const checked = Buffer.concat([prelude, word(checksum(prelude)), head, body]);
  return Buffer.concat([checked, word(checksum(checked))]);
}

export const eventFrame = (type: string, payload: string): Buffer =>
  eventStreamFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);

export const exceptionFrame = (type: string, payload: string): Buffer =>
  eventStreamFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    payload,
  );

export function eventStreamChunks(dialect: Dialect, pieces: readonly Buffer[]): string[] {
  const translator = dialect.createStreamTranslator!();
  const chunks: string[] = [];
  const emit = (chunk: string) => void chunks.push(chunk);
  const reader = new AwsEventStreamReader({
    onFrame: (text, start, end, event) => translator.onEvent(text.slice(start, end), event, emit),
    onBroken: (reason) => {
      throw new Error(reason);
    },
  });
  for (const piece of pieces) reader.read(piece);
  reader.finish();
  translator.onEnd(emit);
  return chunks;
}
