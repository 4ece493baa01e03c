/** Streams the answer of a COPY … TO STDOUT as it comes. A reader that is slow stops the server, so memory stays constant. */
import { Readable } from 'node:stream';
import type { Connection, Submittable } from 'pg';
import type { Database } from '../database.js';

/** The part of the driver's connection that its published types leave out. */
interface PausableConnection {
  stream: { pause(): void; resume(): void };
}

/** Gathers or rewrites the messages of a COPY, one for each row. What it returns goes to the reader. */
export interface CopyReader {
  /** The chunk is not valid afterwards. */
  take(chunk: Buffer): Buffer | null;
  end(): Buffer | null;
}

/** `reader` passes the messages on unless it is given. */
export function copyOut(database: Database, statement: string, reader: CopyReader = new Gatherer()): Readable {
  let resume = () => {};
  const output = new Readable({ read: () => resume(), highWaterMark: 1 << 20 });
  const run = database.session(
    (client) =>
      new Promise<void>((resolve, reject) => {
        const take: Taker = (chunk, connection) => {
          const ready = reader.take(chunk);
          if (ready === null) return;
          resume = () => connection.stream.resume();
          if (!output.push(ready)) connection.stream.pause();
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

  take(chunk: Buffer): Buffer | null {
    this.#pieces.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
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

type Taker = (chunk: Buffer, connection: PausableConnection) => void;

/** Implements what the driver calls on a query while it runs. */
class CopyOutQuery implements Submittable {
  constructor(
    private readonly statement: string,
    private readonly take: Taker,
    /** The driver finds the callback under this name, and stops the timer of its time limit when it is called. */
    public callback: (error: Error | null) => void,
  ) {}

  submit(connection: Connection): void {
    connection.query(this.statement);
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: PausableConnection): void {
    this.take(chunk, connection);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }
}
