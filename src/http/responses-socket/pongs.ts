/** Answers the pings of a WebSocket: one pong for all that come before it can leave (RFC 6455, 5.5.3). */
import type { WebSocket } from 'ws';

/** A client that sends pings and reads no pongs would fill the memory with them, so one pong waits and not more. */
export class Pongs {
  private newest: Buffer | null = null;
  private isLeaving = false;

  constructor(private readonly ws: Pick<WebSocket, 'pong' | 'readyState' | 'OPEN'>) {}

  answer(data: Buffer): void {
    // A copy: the bytes are a part of a larger piece.
    this.newest = Buffer.from(data);
    if (!this.isLeaving) this.send();
  }

  private readonly send = (): void => {
    const { newest, ws } = this;
    this.newest = null;
    this.isLeaving = newest !== null && ws.readyState === ws.OPEN;
    if (this.isLeaving) ws.pong(newest, false, this.send);
  };
}
