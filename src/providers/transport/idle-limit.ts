/** Learns from what an origin closes how long its connections may be idle and still be used. */

/** The limit grows back by this part of the time without another close. A close after a longer idle time says less about the next one. */
const regrowthMin = 0.1;
const regrowthMax = 0.5;
const fullRegrowthMs = 20_000;

/** Two closes after about the same idle time, one after the other, are those of a timer. */
const timerMsMin = 1_000;
const timerTolerance = 0.1;
/** How long before the timer ends a request must be sent, so that it does not meet the close on its way. */
const timerMarginMs = 500;
const timerMargin = 0.2;
/** A timer is believed for this long. Then a connection is left open until it is closed, which shows whether it still runs. */
const timerBelievedMs = 10 * 60_000;

export class IdleLimit {
  private safeMs = Number.POSITIVE_INFINITY;
  private regrowth = regrowthMin;
  private timerMs = Number.POSITIVE_INFINITY;
  private timerSeenAtMs = Number.NEGATIVE_INFINITY;
  private lastIdleMs = Number.POSITIVE_INFINITY;
  closedAtMs = Number.NEGATIVE_INFINITY;

  at(now: number): number {
    const safeMs = this.safeMs + (now - this.closedAtMs) * this.regrowth;
    return now - this.timerSeenAtMs < timerBelievedMs ? Math.min(safeMs, this.timerMs) : safeMs;
  }

  /** The origin closed a connection that had been idle since then. Half of that time is safe. */
  learn(idleSinceMs: number, now: number): void {
    const idleMs = now - idleSinceMs;
    if (this.isTimer(idleSinceMs, idleMs)) {
      this.timerMs = idleMs - Math.max(timerMarginMs, idleMs * timerMargin);
      this.timerSeenAtMs = now;
    }
    this.safeMs = Math.min(this.at(now), idleMs / 2);
    this.regrowth = Math.min(Math.max(idleMs / fullRegrowthMs, regrowthMin), regrowthMax);
    this.lastIdleMs = idleMs;
    this.closedAtMs = now;
  }

  /** A restart closes many connections at once, so only one that became idle after the last close counts. */
  private isTimer(idleSinceMs: number, idleMs: number): boolean {
    const isLike = Math.abs(idleMs - this.lastIdleMs) <= idleMs * timerTolerance;
    return isLike && idleMs >= timerMsMin && idleSinceMs > this.closedAtMs;
  }
}
