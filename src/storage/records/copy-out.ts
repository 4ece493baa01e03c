/** Streams the answer of a COPY … TO STDOUT as it comes. A reader that is slow stops the server, so memory stays constant. */
import { type Duplex, Readable } from 'node:stream';
import type { Connection, Submittable } from 'pg';
import type { Database } from '../database.js';
import { takeMessages } from './copy-messages.js';

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
