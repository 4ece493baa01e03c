/** Splits what PostgreSQL sends during a COPY into its messages. */
import type { Duplex } from 'node:stream';

const headerBytes = 5;
const copyData = 0x64;

/**
 * Reads the messages of a COPY before the driver does, which would copy all bytes and make two objects for each row. The driver gets all
 * other messages. The connection is idle, so the next byte begins a message.
 */
export function takeMessages(stream: Duplex, take: (bytes: Buffer, from: number, to: number) => void): () => void {
  const drivers = stream.listeners('data') as ((bytes: Buffer) => void)[];
  /** The start of a message whose end has not come yet. */
  let rest: Buffer | null = null;
  let isReleased = false;

  const lengthAt = (bytes: Buffer, at: number) => {
    const length = bytes.readInt32BE(at + 1);
    if (length < headerBytes - 1) stream.destroy(new Error('The store sent a message without a length.'));
    return 1 + Math.max(length, headerBytes - 1);
  };

  const handle = (bytes: Buffer, at: number, end: number) => {
    if (bytes[at] === copyData) take(bytes, at + headerBytes, end);
    else for (const driver of drivers) driver(bytes.subarray(at, end));
  };

  /** Ends the message that `rest` begins, with as few bytes as it needs. Returns where the next message begins. */
  const complete = (begun: Buffer, chunk: Buffer): number => {
    const header = Math.max(0, headerBytes - begun.length);
    const known = header === 0 ? begun : Buffer.concat([begun, chunk.subarray(0, header)]);
    const missing = known.length < headerBytes ? header : lengthAt(known, 0) - begun.length;
    rest = Buffer.concat([begun, chunk.subarray(0, missing)]);
    if (missing > chunk.length || rest.length < headerBytes) return chunk.length;
    const whole = rest;
    rest = null;
    handle(whole, 0, whole.length);
    return missing;
  };

  const read = (chunk: Buffer) => {
    let at = rest === null ? 0 : complete(rest, chunk);
    while (at + headerBytes <= chunk.length) {
      const end = at + lengthAt(chunk, at);
      if (end > chunk.length) break;
      handle(chunk, at, end);
      at = end;
    }
    if (at === chunk.length) return;
    if (isReleased) for (const driver of drivers) driver(chunk.subarray(at));
    else rest = Buffer.from(chunk.subarray(at));
  };

  stream.on('data', read);
  for (const driver of drivers) stream.off('data', driver);
  return () => {
    if (isReleased) return;
    isReleased = true;
    for (const driver of drivers) stream.on('data', driver);
    stream.off('data', read);
  };
}
