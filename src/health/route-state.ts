/** What has been observed of one route, and the permits through which its attempts report how they ended. */
import type { Clock } from '../base/time.js';
import { Breaker, type BreakerConfig } from './breaker.js';
import { bucketAt, RecentOutcomes } from './recent-outcomes.js';

export interface Observed {
  /** The smoothed first byte in ms, rounded up to a step; null = never measured. */
  readonly firstByteMs: number | null;
  /** 0..1, in steps: the share of recent attempts that failed; 0 while too few were seen. */
  readonly failureShare: number;
}

/** One attempt. Exactly one of the last three ends it; what is called later is ignored. */
export interface Permit {
  /** A stream delivered its first content. A long stream must not keep the route out, so the breaker closes now, if it may. */
  firstContent(): void;
  succeeded(firstByteMs: number | null): void;
  /** A failure that counts against the route, with the upstream's `Retry-After` where it sent one. */
  failed(retryAfterMs: number | null): void;
  /** Neither: the request was rejected, the caller left, the route is held now. */
  released(): void;
}

/** Of the newest measurement in the smoothed figure. */
const newestWeight = 0.2;
const latencyStepMs = 100;
const shareSteps = 20;
/** With fewer attempts a share says nothing. */
const attemptsMin = 20;
/** Buckets after which a measurement says nothing any more: a route once slow gets its chance again. */
const measurementBuckets = 10;

export const unobserved: Observed = { firstByteMs: null, failureShare: 0 };

export class RouteState {
  readonly breaker: Breaker;
  readonly recent: RecentOutcomes;
  /** What ranking is told; replaced when a step changes. */
  streamed = unobserved;
  whole = unobserved;
  /** Smoothed over both kinds, for people. */
  firstByteMs: number | null = null;
  private streamedMs: number | null = null;
  private wholeMs: number | null = null;
  private streamedIn = 0;
  private wholeIn = 0;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    config: BreakerConfig,
    /** Raised by whatever changes what ranking is told. */
    private readonly revision: { value: number },
  ) {
    this.breaker = new Breaker(config);
    this.recent = new RecentOutcomes(bucketAt(clock.monotonicMs()));
  }

  /** `probe` is the number of the breaker's slot that the attempt has taken; 0 = none. */
  permit(stream: boolean, probe: number): Permit {
    return new RoutePermit(this, stream, probe);
  }

  succeeded(stream: boolean, firstByteMs: number | null, openingsBefore: number): void {
    this.closeBreaker(openingsBefore);
    const bucket = bucketAt(this.clock.monotonicMs());
    if (firstByteMs !== null) this.measured(bucket, stream, firstByteMs);
    this.recent.add(bucket, false);
    this.update();
  }

  /**
   * The upstream took this attempt's request at a time when it still answered. Only an attempt that began after the breaker
   * opened proves that the route has recovered.
   */
  closeBreaker(openingsBefore: number): void {
    if (openingsBefore === this.breaker.openings) this.breaker.succeeded();
  }

  /**
   * An attempt from before the breaker last opened is of the outage that opened it. Whole answers may take longer to time out
   * than a cooldown, and would keep away a route that is well again.
   */
  failed(retryAfterMs: number | null, openingsBefore: number): void {
    const nowMs = this.clock.monotonicMs();
    if (openingsBefore === this.breaker.openings) this.breaker.failed(nowMs, retryAfterMs);
    this.recent.add(bucketAt(nowMs), true);
    this.update();
  }

  forgetBefore(bucket: number): void {
    this.recent.moveTo(bucket);
    if (bucket - this.streamedIn > measurementBuckets) this.streamedMs = null;
    if (bucket - this.wholeIn > measurementBuckets) this.wholeMs = null;
    this.update();
  }

  private measured(bucket: number, stream: boolean, firstByteMs: number): void {
    this.firstByteMs = smoothed(this.firstByteMs, firstByteMs);
    if (stream) {
      this.streamedMs = smoothed(this.streamedMs, firstByteMs);
      this.streamedIn = bucket;
    } else {
      this.wholeMs = smoothed(this.wholeMs, firstByteMs);
      this.wholeIn = bucket;
    }
  }

  private update(): void {
    const { attempts, failures } = this.recent;
    const share = attempts < attemptsMin ? 0 : Math.round((failures / attempts) * shareSteps) / shareSteps;
    const streamedMs = stepOf(this.streamedMs);
    const wholeMs = stepOf(this.wholeMs);
    const { streamed, whole } = this;
    if (share === whole.failureShare && streamedMs === streamed.firstByteMs && wholeMs === whole.firstByteMs) return;
    this.streamed = { firstByteMs: streamedMs, failureShare: share };
    this.whole = { firstByteMs: wholeMs, failureShare: share };
    this.revision.value++;
  }
}

function smoothed(before: number | null, newest: number): number {
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

  firstContent(): void {
    if (!this.over && !this.route.breaker.closed) this.route.closeBreaker(this.openingsBefore);
  }

  succeeded(firstByteMs: number | null): void {
    if (this.over) return;
    this.over = true;
    this.route.succeeded(this.stream, firstByteMs, this.openingsBefore);
    if (this.probe > 0) this.route.breaker.endProbe(this.probe);
  }

  failed(retryAfterMs: number | null): void {
    if (this.over) return;
    this.over = true;
    this.route.failed(retryAfterMs, this.openingsBefore);
    if (this.probe > 0) this.route.breaker.endProbe(this.probe);
  }

  released(): void {
    if (this.over) return;
    this.over = true;
    if (this.probe > 0) this.route.breaker.endProbe(this.probe);
  }
}
