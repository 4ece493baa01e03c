/** The pool of keep-alive connections of one origin. Each origin has its own, so a provider that hangs takes none from another. */
import { Connection, type UpstreamOrigin } from './http1/connection.js';
import type { TlsSessions } from './http1/tls-sessions.js';

export interface PoolOptions {
  nowMs: () => number;
  /** How long an idle connection is kept at most. */
  idleMsMax: number;
  sessions: TlsSessions;
}

/** A connection that was idle for longer is checked for a close before it is used. Under load hardly any is. */
const checkAfterMs = 50;
/** For this long after an origin closed an idle connection, every connection is checked before it is used. */
const distrustMs = 60_000;
/** An older connection is replaced, so that a name that has got another address is looked up again. */
const ageMsMax = 30 * 60_000;
/** Up to this idle time all connections of a burst are kept for the next one. Of those that were idle for longer, only some are. */
const burstMs = 4_000;
const longIdleMax = 64;

/** It is a stack, so that taking a free connection costs the same with one open stream or with thousands. */
export class Connections {
  private idle: Connection[] = [];
  private readonly limit = new IdleLimit();
  private closed = false;
  private openCount = 0;

  constructor(
    private readonly origin: UpstreamOrigin,
    private readonly options: PoolOptions,
  ) {}

  take(): Connection {
    const now = this.options.nowMs();
    for (let kept = this.idle.pop(); kept; kept = this.idle.pop()) {
      if (this.isUsable(kept, now)) {
        kept.checksFirst = now - kept.idleSinceMs > checkAfterMs || now - this.limit.closedAtMs < distrustMs;
        return kept;
      }
      if (this.isObserver(kept, now)) {
        this.idle.push(kept);
        break;
      }
      kept.destroy();
    }
    return this.open();
  }

  private isUsable(kept: Connection, now: number): boolean {
    return this.isFresh(kept, now) && now - kept.idleSinceMs <= this.limit.at(now);
  }

  private isFresh(kept: Connection, now: number): boolean {
    const idleMs = now - kept.idleSinceMs;
    const isYoung = idleMs < kept.idleMsMax && idleMs < this.options.idleMsMax && now - kept.openedAtMs < ageMsMax;
    return kept.alive && isYoung;
  }

  /** The last one that is idle for longer than the limit stays open without use: when its origin closes it shows whether the limit holds. */
  private isObserver(taken: Connection, now: number): boolean {
    return this.idle.length === 0 && this.isFresh(taken, now);
  }

  open(): Connection {
    const { nowMs, sessions } = this.options;
    const connection = new Connection(this.origin, sessions);
    connection.openedAtMs = nowMs();
    this.openCount++;
    connection.socket.once('close', () => this.openCount--);
    connection.onClosedByServer = () => this.limit.learn(connection.idleSinceMs, nowMs());
    return connection;
  }

  give(connection: Connection): void {
    if (this.closed) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = this.options.nowMs();
    this.idle.push(connection);
  }

  /** Closes what will not be used again. Returns the others that were idle for longer than a burst needs. */
  sweep(): Connection[] {
    const now = this.options.nowMs();
    const kept: Connection[] = [];
    const longIdle: Connection[] = [];
    // The top of the stack was used last.
    for (let connection = this.idle.pop(); connection; connection = this.idle.pop()) {
      const isLong = now - connection.idleSinceMs > burstMs;
      const isKept = this.isUsable(connection, now) || this.isObserver(connection, now);
      if (!isKept || (isLong && longIdle.length >= longIdleMax)) {
        connection.destroy();
        continue;
      }
      kept.push(connection);
      if (isLong) longIdle.push(connection);
    }
    this.idle = kept.reverse();
    return longIdle;
  }

  /** Includes connections that are being opened and those in use. */
  get count(): number {
    return this.openCount;
  }

  get idleCount(): number {
    return this.idle.filter(({ alive }) => alive).length;
  }

  close(): void {
    this.closed = true;
    for (const connection of this.idle.splice(0)) connection.destroy();
  }
}

/** The limit grows back by this part of the time without another close. A close after a longer idle time says less about the next one. */
const regrowthMin = 0.1;
const regrowthMax = 0.5;
const fullRegrowthMs = 20_000;

/** Two closes after about the same idle time, at different moments, are those of a timer. */
const timerMsMin = 1_000;
const timerTolerance = 0.1;
/** How long before the timer ends a request must be sent, so that it does not meet the close on its way. */
const timerMarginMs = 500;
const timerMargin = 0.2;
/** A timer is believed for this long after it closed a connection. */
const timerBelievedMs = 10 * 60_000;

/** Learns from what an origin closes how long its connections may be idle and still be used. */
export class IdleLimit {
  private safeMs = Number.POSITIVE_INFINITY;
  private regrowth = regrowthMin;
  private timerMs = Number.POSITIVE_INFINITY;
  private timerSeenAtMs = Number.NEGATIVE_INFINITY;
  private lastIdleMs = Number.POSITIVE_INFINITY;
  closedAtMs = Number.NEGATIVE_INFINITY;

  at(now: number): number {
    const safeMs = this.safeAt(now);
    return now - this.timerSeenAtMs < timerBelievedMs ? Math.min(safeMs, this.timerMs) : safeMs;
  }

  private safeAt(now: number): number {
    return this.safeMs + (now - this.closedAtMs) * this.regrowth;
  }

  /** The origin closed a connection that had been idle since then. Half of that time is safe, or most of it where it was a timer. */
  learn(idleSinceMs: number, now: number): void {
    const idleMs = now - idleSinceMs;
    this.safeMs = this.safeAt(now);
    if (this.isTimer(idleMs, now)) {
      this.timerMs = idleMs - Math.max(timerMarginMs, idleMs * timerMargin);
      this.timerSeenAtMs = now;
    } else if (idleMs / 2 < this.safeMs) {
      this.safeMs = idleMs / 2;
      this.regrowth = Math.min(Math.max(idleMs / fullRegrowthMs, regrowthMin), regrowthMax);
    }
    this.lastIdleMs = idleMs;
    this.closedAtMs = now;
  }

  /** A restart closes many connections at once, so closes that are not apart do not count. */
  private isTimer(idleMs: number, now: number): boolean {
    const isLike = Math.abs(idleMs - this.lastIdleMs) <= idleMs * timerTolerance;
    return isLike && idleMs >= timerMsMin && now - this.closedAtMs >= idleMs / 2;
  }
}
