/** What was observed of one route: its breaker, its latency, its recent failures. */
import type { Clock } from '../base/time.js';

export interface Observed {
  /** The smoothed time to first byte in ms, rounded up to a step; null where it was never measured. */
  readonly firstByteMs: number | null;
  /** The share of recent attempts that failed, 0 to 1 in steps; 0 while there are too few attempts. */
  readonly failureShare: number;
  /** Output tokens a second of streams, smoothed, to two digits; absent where it was never measured. */
  readonly tokensPerSecond?: number;
}

/** The weight of the newest measurement. */
const newestWeight = 0.2;
const latencyStepMs = 100;
const shareSteps = 20;
/** With fewer attempts the share means nothing. */
const attemptsMin = 20;
/** A measurement expires after this many buckets, so that a route that was slow gets another chance. */
const measurementBuckets = 10;

export const unobserved: Observed = { firstByteMs: null, failureShare: 0 };

export class RouteState {
  readonly breaker: Breaker;
  readonly recent: RecentOutcomes;
  /** The figures for ranking; replaced when a step changes. */
  streamed = unobserved;
  whole = unobserved;
  /** Smoothed over streamed and whole answers, for operators. */
  firstByteMs: number | null = null;
  private streamedMs: number | null = null;
  private wholeMs: number | null = null;
  private tokensPerSecond: number | null = null;
  private streamedIn = 0;
  private wholeIn = 0;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    config: BreakerConfig,
    /** Raised whenever the figures for ranking change. */
    private readonly revision: { value: number },
    private readonly opened: () => void = () => {},
  ) {
    this.breaker = new Breaker(config);
    this.recent = new RecentOutcomes(bucketAt(clock.monotonicMs()));
  }

  recordSuccess(stream: boolean, firstByteMs: number | null, openingsBefore: number): void {
    this.closeBreaker(openingsBefore);
    const bucket = bucketAt(this.clock.monotonicMs());
    if (firstByteMs !== null) this.recordLatency(bucket, stream, firstByteMs);
    this.recent.add(bucket, false);
    this.update();
  }

  /**
   * The upstream accepted this attempt's request. Only an attempt that began after the breaker opened proves that the route
   * has recovered.
   */
  closeBreaker(openingsBefore: number): void {
    if (openingsBefore === this.breaker.openings) this.breaker.recordSuccess();
  }

  /**
   * An attempt from before the last opening belongs to the outage that caused it. Whole answers may take longer to time out
   * than the cooldown, and would keep away a route that has recovered.
   */
  recordFailure(retryAfterMs: number | null, openingsBefore: number): void {
    const nowMs = this.clock.monotonicMs();
    if (openingsBefore === this.breaker.openings) {
      this.breaker.recordFailure(nowMs, retryAfterMs);
      if (openingsBefore !== this.breaker.openings) this.opened();
    }
    this.recent.add(bucketAt(nowMs), true);
    this.update();
  }

  /** Kept until the next measurement: a route without one ranks last, and would never be measured again. */
  recordThroughput(tokensPerSecond: number): void {
    this.tokensPerSecond = smooth(this.tokensPerSecond, tokensPerSecond);
    this.update();
  }

  forgetBefore(bucket: number): void {
    this.recent.moveTo(bucket);
    if (bucket - this.streamedIn > measurementBuckets) this.streamedMs = null;
    if (bucket - this.wholeIn > measurementBuckets) this.wholeMs = null;
    this.update();
  }

  private recordLatency(bucket: number, stream: boolean, firstByteMs: number): void {
    this.firstByteMs = smooth(this.firstByteMs, firstByteMs);
    if (stream) {
      this.streamedMs = smooth(this.streamedMs, firstByteMs);
      this.streamedIn = bucket;
    } else {
      this.wholeMs = smooth(this.wholeMs, firstByteMs);
      this.wholeIn = bucket;
    }
  }

  private update(): void {
    const { attempts, failures } = this.recent;
    const share = attempts < attemptsMin ? 0 : Math.round((failures / attempts) * shareSteps) / shareSteps;
    const streamedMs = stepOf(this.streamedMs);
    const wholeMs = stepOf(this.wholeMs);
    const { streamed, whole } = this;
    const speed = this.tokensPerSecond === null ? {} : { tokensPerSecond: Number(this.tokensPerSecond.toPrecision(2)) };
    const isSame = share === whole.failureShare && speed.tokensPerSecond === whole.tokensPerSecond;
    if (isSame && streamedMs === streamed.firstByteMs && wholeMs === whole.firstByteMs) return;
    this.streamed = { firstByteMs: streamedMs, failureShare: share, ...speed };
    this.whole = { firstByteMs: wholeMs, failureShare: share, ...speed };
    this.revision.value++;
  }
}

function smooth(before: number | null, newest: number): number {
  return before === null ? newest : before + newestWeight * (newest - before);
}

function stepOf(ms: number | null): number | null {
  return ms === null ? null : Math.max(Math.ceil(ms / latencyStepMs), 1) * latencyStepMs;
}

const bucketMs = 30_000;
const buckets = 10;

/** The bucket of a moment of monotonic time. */
export const bucketAt = (nowMs: number): number => Math.floor(nowMs / bucketMs);

/** Counts the attempts and failures of a route in the last five minutes, in ten buckets of 30 s. */
export class RecentOutcomes {
  /** Attempts and failures of each bucket, side by side. */
  private readonly counts = new Uint32Array(2 * buckets);
  attempts = 0;
  failures = 0;

  constructor(private newest: number) {}

  add(bucket: number, failed: boolean): void {
    this.moveTo(bucket);
    const slot = 2 * (this.newest % buckets);
    this.counts[slot]!++;
    this.attempts++;
    if (!failed) return;
    this.counts[slot + 1]!++;
    this.failures++;
  }

  /** Drops buckets older than five minutes. */
  moveTo(bucket: number): void {
    if (bucket <= this.newest) return;
    for (let passed = Math.min(bucket - this.newest, buckets), at = bucket; passed > 0; passed--, at--) {
      const slot = 2 * (at % buckets);
      this.attempts -= this.counts[slot]!;
      this.failures -= this.counts[slot + 1]!;
      this.counts[slot] = 0;
      this.counts[slot + 1] = 0;
    }
    this.newest = bucket;
  }
}

export interface BreakerConfig {
  /** The counted failures within the window that open the breaker. */
  readonly failures: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
  /** A probe whose end is never reported is given up after this long. */
  readonly probeMaxMs: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

interface CountedFailure {
  readonly atMs: number;
  /** The end of the upstream's `Retry-After`; `atMs` where it sent none. */
  readonly awayUntilMs: number;
}

/** Bounds `Retry-After`, so that one header cannot keep a route away for a day. */
const cooldownsMax = 10;

/**
 * The circuit breaker of one route. It opens after enough counted failures within a sliding window and then admits one probe
 * at a time. It has no timer: its state follows from the monotonic time that callers pass, so it cannot get stuck.
 */
export class Breaker {
  /** The newest failures since the last success, oldest first. At most as many as open the breaker. */
  private recent: CountedFailure[] = [];
  /** null while closed; in the past while half-open. */
  private openUntilMs: number | null = null;
  private probeSinceMs: number | null = null;
  private probe = 0;
  /** How often the breaker has opened. */
  openings = 0;

  constructor(private readonly config: BreakerConfig) {}

  get closed(): boolean {
    return this.openUntilMs === null;
  }

  state(nowMs: number): BreakerState {
    if (this.openUntilMs === null) return 'closed';
    return nowMs < this.openUntilMs ? 'open' : 'half_open';
  }

  mayProbe(nowMs: number): boolean {
    if (this.state(nowMs) !== 'half_open') return false;
    return this.probeSinceMs === null || nowMs - this.probeSinceMs >= this.config.probeMaxMs;
  }

  /** Takes the probe slot and returns the number that frees it. */
  beginProbe(nowMs: number): number {
    this.probeSinceMs = nowMs;
    return ++this.probe;
  }

  /** Frees the slot, unless the probe was given up or the breaker has opened again since. */
  endProbe(probe: number): void {
    if (probe === this.probe) this.probeSinceMs = null;
  }

  /** Closes the breaker and clears the failures. A running probe becomes an ordinary attempt. */
  recordSuccess(): void {
    if (this.recent.length > 0) this.recent = [];
    if (this.openUntilMs === null) return;
    this.openUntilMs = null;
    this.probeSinceMs = null;
    this.probe++;
  }

  /**
   * Changes nothing while the breaker is open: the failures of pinned requests must not keep the route out of `auto/` for
   * ever.
   */
  recordFailure(nowMs: number, retryAfterMs: number | null): void {
    const state = this.state(nowMs);
    if (state === 'open') return;
    const awayMs = retryAfterMs !== null && retryAfterMs > 0 ? retryAfterMs : 0;
    const failure = { atMs: nowMs, awayUntilMs: nowMs + awayMs };
    if (state === 'half_open') {
      this.open(nowMs, failure.awayUntilMs);
      return;
    }
    const { failures, windowMs } = this.config;
    this.recent.push(failure);
    if (this.recent.length > failures) this.recent.shift();
    if (this.recent.length < failures || nowMs - this.recent[0]!.atMs > windowMs) return;
    this.open(
      nowMs,
      this.recent.reduce((latest, { awayUntilMs }) => Math.max(latest, awayUntilMs), 0),
    );
  }

  private open(nowMs: number, awayUntilMs: number): void {
    const { cooldownMs } = this.config;
    const latestMs = nowMs + cooldownsMax * cooldownMs;
    this.openUntilMs = Math.min(Math.max(nowMs + cooldownMs, awayUntilMs), latestMs);
    this.recent = [];
    this.openings++;
  }
}
