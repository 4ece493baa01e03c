/**
 * The kept connections of one origin: a stack, so that finding a free one costs the same with one stream open or with
 * thousands, and a hung provider can never take another's connections.
 */
import { Connection, type Origin } from './http1/connection.js';

/** A connection that has been idle for longer is looked at once more before it is used; at load hardly any is. */
const looksAfterMs = 50;
/** An origin that closed a kept connection is distrusted for as long: every kept connection is looked at before it is used. */
const distrustMs = 60_000;
/** How much of the idle time that was lost by a close comes back with every millisecond without another one. */
const regrowth = 0.1;

export class Connections {
  private readonly idle: Connection[] = [];
  /** The idle time that is safe by what this origin has shown, at the time beside it. */
  private safeIdleMs = Number.POSITIVE_INFINITY;
  private closedAtMs = Number.NEGATIVE_INFINITY;
  private closed = false;
  private openCount = 0;

  constructor(
    private readonly origin: Origin,
    private readonly nowMs: () => number,
  ) {}

  take(): Connection {
    const now = this.nowMs();
    for (let kept = this.idle.pop(); kept; kept = this.idle.pop()) {
      if (this.isUsable(kept, now)) {
        kept.looksFirst = now - kept.idleSinceMs > looksAfterMs || now - this.closedAtMs < distrustMs;
        return kept;
      }
      kept.destroy();
    }
    return this.fresh();
  }

  private isUsable(kept: Connection, now: number): boolean {
    const idleMs = now - kept.idleSinceMs;
    return kept.alive && idleMs < kept.idleMsMax && idleMs <= this.safeIdleAt(now);
  }

  private safeIdleAt(now: number): number {
    return this.safeIdleMs + (now - this.closedAtMs) * regrowth;
  }

  /** Half of the shortest time after which this origin closed a connection is taken to be safe. */
  private learnFrom(connection: Connection): void {
    const now = this.nowMs();
    const idleMs = now - connection.idleSinceMs;
    this.safeIdleMs = Math.min(this.safeIdleAt(now), idleMs / 2);
    this.closedAtMs = now;
  }

  fresh(): Connection {
    const connection = new Connection(this.origin);
    this.openCount++;
    connection.socket.once('close', () => this.openCount--);
    connection.onClosedByServer = () => this.learnFrom(connection);
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
      if (this.isUsable(this.idle[stale]!, now)) break;
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
