/** A clock that moves only when a test moves it. */
import type { Clock } from '../../src/base/time.js';

export class ManualClock implements Clock {
  private wallMs: number;
  private elapsedMs = 0;

  constructor(start: number | string = '2026-01-15T12:00:00Z') {
    this.wallMs = typeof start === 'string' ? Date.parse(start) : start;
  }

  now(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.wallMs += ms;
    this.elapsedMs += ms;
  }

  /** The wall clock is set, as an operator or NTP does; no time passes. */
  setWall(time: number | string): void {
    this.wallMs = typeof time === 'string' ? Date.parse(time) : time;
  }
}
