/** Streams the answer of a COPY … TO STDOUT as it comes. A reader that is slow stops the server, so memory stays constant. */
import { type Duplex, Readable } from 'node:stream';
import type { Connection, Submittable } from 'pg';
import type { Database } from '../database.js';
import { int32 } from './export-values.js';

/** The part of the driver's connection that its published types leave out. */
interface OpenConnection {
  stream: Duplex;
}

/** Gathers or rewrites the messages of a COPY, one for each row. What it returns goes to the reader. */
export interface CopyReader {
  /** The message is in `bytes`, which are not valid afterwards. */
  take(bytes: Buffer, from: number, to: number): Buffer | null;
  end(): Buffer | null;
}

/** `reader` passes the messages on unless it is given. */
export function copyOut(database: Database, statement: string, reader: CopyReader = new Gatherer()): Readable {
  let resume = () => {};
  const output = new Readable({ read: () => resume(), highWaterMark: 1 << 20 });
  const run = database.session(
    (client) =>
      new Promise<void>((resolve, reject) => {
        const take: Taker = (bytes, from, to, stream) => {
          const ready = reader.take(bytes, from, to);
          if (ready === null) return;
          resume = () => stream.resume();
          if (!output.push(ready)) stream.pause();
        };
        const query = new CopyOutQuery(statement, take, (error) => (error ? reject(error) : resolve()));
        // A reader that leaves ends the query with its connection.
        output.once('close', () => {
          resume();
          if (!output.readableEnded) reject(new Error('the reader left'));
        });
        client.query(query);
      }),
  );
  run.then(
    () => {
      const rest = reader.end();
      if (rest !== null) output.push(rest);
      output.push(null);
    },
    (error: Error) => output.destroy(error),
  );
  return output;
}

/** A stream of large pieces costs much less than one of rows. */
class Gatherer implements CopyReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  take(bytes: Buffer, from: number, to: number): Buffer | null {
    this.#pieces.push(Buffer.from(bytes.subarray(from, to)));
    this.#bytes += to - from;
    return this.#bytes < 1 << 16 ? null : this.end();
  }

  end(): Buffer | null {
    if (this.#bytes === 0) return null;
    const whole = Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    return whole;
  }
}

type Taker = (bytes: Buffer, from: number, to: number, stream: Duplex) => void;

/** Implements what the driver calls on a query while it runs. */
class CopyOutQuery implements Submittable {
  #release = () => {};

  constructor(
    private readonly statement: string,
    private readonly take: Taker,
    /** The driver finds the callback under this name, and stops the timer of its time limit when it is called. */
    public callback: (error: Error | null) => void,
  ) {}

  submit(connection: Connection): void {
    const { stream } = connection as unknown as OpenConnection;
    this.#release = takeMessages(stream, (bytes, from, to) => this.take(bytes, from, to, stream));
    connection.query(this.statement);
  }

  handleCopyData(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#release();
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.#release();
    this.callback(null);
  }
}

const headerBytes = 5;
const copyData = 0x64;

/**
 * Reads the messages of a COPY before the driver does, which would copy all bytes and make two objects for each row. The driver gets all
 * other messages. The connection is idle, so the next byte begins a message.
 */
function takeMessages(stream: Duplex, take: (bytes: Buffer, from: number, to: number) => void): () => void {
  const drivers = stream.listeners('data') as ((bytes: Buffer) => void)[];
  /** The start of a message whose end has not come yet. */
  let rest: Buffer | null = null;
  let isReleased = false;

  const lengthAt = (bytes: Buffer, at: number) => {
    const length = int32(bytes, at + 1);
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
