/**
 * The kept connections of one origin: a stack, so that finding a free one costs the same with one stream open or with
 * thousands, and a hung provider can never take another's connections.
 */
import { Connection, type Origin } from './http1/connection.js';

export class Connections {
  private readonly idle: Connection[] = [];
  private closed = false;
  private openCount = 0;

  constructor(
    private readonly origin: Origin,
    private readonly nowMs: () => number,
  ) {}

  take(): Connection {
    const now = this.nowMs();
    for (let kept = this.idle.pop(); kept; kept = this.idle.pop()) {
      if (kept.alive && now - kept.idleSinceMs < kept.idleMsMax) return kept;
      kept.destroy();
    }
    return this.fresh();
  }

  fresh(): Connection {
    const connection = new Connection(this.origin);
    this.openCount++;
    connection.socket.once('close', () => this.openCount--);
    return connection;
  }

  give(connection: Connection): void {
    if (this.closed) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = this.nowMs();
    this.idle.push(connection);
  }

  /** The stack is used from its top, so what has been idle longest lies at the bottom. */
  sweep(): void {
    const now = this.nowMs();
    let stale = 0;
    for (; stale < this.idle.length; stale++) {
      const kept = this.idle[stale]!;
      if (kept.alive && now - kept.idleSinceMs < kept.idleMsMax) break;
    }
    for (const connection of this.idle.splice(0, stale)) connection.destroy();
  }

  /** Those that are being opened and those in use included. */
  get open(): number {
    return this.openCount;
  }

  get idleCount(): number {
    return this.idle.length;
  }

  close(): void {
    this.closed = true;
    for (const connection of this.idle.splice(0)) connection.destroy();
  }
}
