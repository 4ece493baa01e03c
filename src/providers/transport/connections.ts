/**
 * The pool of keep-alive connections of one origin. It is a stack, so that taking a free one costs the same with one open stream
 * or with thousands. Each origin has its own pool, so a provider that hangs cannot use up another's connections.
 */
import { Connection, type Origin } from './http1/connection.js';

/** A connection that was idle for longer is checked for a close before it is used. Under load hardly any is. */
const checkAfterMs = 50;
/** For this long after an origin closed an idle connection, every connection is checked before it is used. */
const distrustMs = 60_000;
/** How much the safe idle time grows back with every millisecond without another close. */
const regrowth = 0.1;

export class Connections {
  private readonly idle: Connection[] = [];
  /** The idle time that was safe when this origin last closed an idle connection, at `closedAtMs`. */
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
        kept.checksFirst = now - kept.idleSinceMs > checkAfterMs || now - this.closedAtMs < distrustMs;
        return kept;
      }
      kept.destroy();
    }
    return this.open();
  }

  private isUsable(kept: Connection, now: number): boolean {
    const idleMs = now - kept.idleSinceMs;
    return kept.alive && idleMs < kept.idleMsMax && idleMs <= this.safeIdleAt(now);
  }

  private safeIdleAt(now: number): number {
    return this.safeIdleMs + (now - this.closedAtMs) * regrowth;
  }

  /** Half of the shortest idle time after which this origin closed a connection is considered safe. */
  private learnFrom(connection: Connection): void {
    const now = this.nowMs();
    const idleMs = now - connection.idleSinceMs;
    this.safeIdleMs = Math.min(this.safeIdleAt(now), idleMs / 2);
    this.closedAtMs = now;
  }

  open(): Connection {
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

  /** Connections are taken from the top of the stack, so the one that is idle longest is at the bottom. */
  sweep(): void {
    const now = this.nowMs();
    let stale = 0;
    for (; stale < this.idle.length; stale++) {
      if (this.isUsable(this.idle[stale]!, now)) break;
    }
    for (const connection of this.idle.splice(0, stale)) connection.destroy();
  }

  /** Includes connections that are being opened and those in use. */
  get count(): number {
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
