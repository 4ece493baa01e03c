/** Streams the answer of a COPY … TO STDOUT as it comes. A reader that is slow stops the server, so memory stays constant. */
import { Readable } from 'node:stream';
import type { Connection, Submittable } from 'pg';
import type { Database } from '../database.js';

/** The part of the driver's connection that its published types leave out. */
interface PausableConnection {
  stream: { pause(): void; resume(): void };
}

export function copyOut(database: Database, statement: string): Readable {
  let resume = () => {};
  const output = new Readable({ read: () => resume(), highWaterMark: 1 << 20 });
  const run = database.session(
    (client) =>
      new Promise<void>((resolve, reject) => {
        const query = new CopyOutQuery(statement, {
          take: (chunk, connection) => {
            resume = () => connection.stream.resume();
            if (!output.push(chunk)) connection.stream.pause();
          },
          end: (error) => (error ? reject(error) : resolve()),
        });
        // A reader that leaves ends the query with its connection.
        output.once('close', () => {
          resume();
          if (!output.readableEnded) reject(new Error('the reader left'));
        });
        client.query(query);
      }),
  );
  run.then(
    () => output.push(null),
    (error: Error) => output.destroy(error),
  );
  return output;
}

interface Taker {
  take(chunk: Buffer, connection: PausableConnection): void;
  end(error: Error | null): void;
}

/** Implements what the driver calls on a query while it runs. */
class CopyOutQuery implements Submittable {
  constructor(
    private readonly statement: string,
    private readonly taker: Taker,
  ) {}

  submit(connection: Connection): void {
    connection.query(this.statement);
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: PausableConnection): void {
    this.taker.take(Buffer.from(chunk), connection);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.taker.end(error);
  }

  handleReadyForQuery(): void {
    this.taker.end(null);
  }
}
