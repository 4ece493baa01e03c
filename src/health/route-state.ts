/** What was observed of one route: its breaker, its latency, its recent failures; and the permits that report how its attempts end. */
import type { Clock } from '../base/time.js';
import { Breaker, type BreakerConfig } from './breaker.js';

export interface Observed {
  /** The smoothed time to first byte in ms, rounded up to a step; null where it was never measured. */
  readonly firstByteMs: number | null;
  /** The share of recent attempts that failed, 0 to 1 in steps; 0 while there are too few attempts. */
  readonly failureShare: number;
  /** Output tokens a second of streams, smoothed, to two digits; absent where it was never measured. */
  readonly tokensPerSecond?: number;
}

/** One attempt. Exactly one of the last three methods ends it; later calls are ignored. */
export interface Permit {
  /**
   * A stream delivered its first content. The breaker closes now if it may, because a long stream must not keep the route
   * out.
   */
  reportContent(): void;
  succeed(firstByteMs: number | null): void;
  /** A failure that counts against the route, with the upstream's `Retry-After` where it sent one. */
  fail(retryAfterMs: number | null): void;
  /** Neither success nor failure: the request was rejected, the client disconnected, or the route is now held. */
  release(): void;
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

  /** `probe` is the number of the breaker's slot that the attempt took; 0 for none. */
  permit(stream: boolean, probe: number): Permit {
    return new RoutePermit(this, stream, probe);
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

class RoutePermit implements Permit {
  private over = false;
  private readonly openingsBefore: number;

  constructor(
    private readonly route: RouteState,
    private readonly stream: boolean,
    private readonly probe: number,
  ) {
    this.openingsBefore = route.breaker.openings;
  }

  reportContent(): void {
    if (!this.over && !this.route.breaker.closed) this.route.closeBreaker(this.openingsBefore);
  }

  succeed(firstByteMs: number | null): void {
    if (this.over) return;
    this.over = true;
    this.route.recordSuccess(this.stream, firstByteMs, this.openingsBefore);
    if (this.probe > 0) this.route.breaker.endProbe(this.probe);
  }

  fail(retryAfterMs: number | null): void {
    if (this.over) return;
    this.over = true;
    this.route.recordFailure(retryAfterMs, this.openingsBefore);
    if (this.probe > 0) this.route.breaker.endProbe(this.probe);
  }

  release(): void {
    if (this.over) return;
    this.over = true;
    if (this.probe > 0) this.route.breaker.endProbe(this.probe);
  }
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
