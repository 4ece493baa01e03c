/** Learns from what an origin closes how long its connections may be idle and still be used. */

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
