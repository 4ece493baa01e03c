/** Midnight UTC, at which daily quotas begin anew (§3.2). The local time zone plays no part (failure case F21). */
const dayMs = 86_400_000;

/** Whole days since the epoch. */
export function utcDay(nowMs: number): number {
  return Math.floor(nowMs / dayMs);
}

/** Epoch milliseconds of the midnight at which a day begins. */
export function startOfUtcDay(day: number): number {
  return day * dayMs;
}

/** Epoch milliseconds of the first midnight UTC after the given moment. */
export function nextMidnightUtc(nowMs: number): number {
  return startOfUtcDay(utcDay(nowMs) + 1);
}

/** Whole seconds until then, 1 to 86400: whoever waits them is past it. */
export function secondsToMidnightUtc(nowMs: number): number {
  return Math.ceil((nextMidnightUtc(nowMs) - nowMs) / 1000);
}
