/**
 * Keeps what this process has observed of each route: its breaker, its latency, its recent failures. The walk takes a permit
 * for an attempt and ends it with the outcome. Ranking reads figures in coarse steps, so that noise does not change the
 * order.
 */
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { Breaker, type BreakerConfig, type BreakerState, bucketAt, RecentOutcomes } from './breaker.js';

export interface RouteHealthView {
  breaker: BreakerState;
  latency_ms: number | null;
  error_rate: number | null;
}

export class RouteHealth {
  private readonly routes = new Map<string, RouteState>();
  private readonly changes = { value: 0 };
  private bucket: number;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly config: Config['breaker'] & { probeMaxMs: number },
    /** Called when the breaker of a route opens, or opens again after a probe. */
    private readonly opened: (routeId: string) => void = () => {},
  ) {
    this.bucket = bucketAt(clock.monotonicMs());
  }

  /** Changes whenever `observed` of any route would return something else, so that ranking can cache an order. */
  get revision(): number {
    this.forgetOldOutcomes();
    return this.changes.value;
  }

  /** Streamed and whole answers are smoothed separately, because the first byte of a whole answer is its end. */
  observed(routeId: string, stream: boolean): Observed {
    this.forgetOldOutcomes();
    const route = this.routes.get(routeId);
    if (!route) return unobserved;
    return stream ? route.streamed : route.whole;
  }

  /**
   * null where the breaker is open or its probe is running; an `auto/` walk then skips the route. A pinned request always
   * gets a permit.
   */
  begin(routeId: string, stream: boolean, pin: boolean): Permit | null {
    const route = this.routes.get(routeId) ?? this.add(routeId);
    const { breaker } = route;
    if (pin || breaker.closed) return route.permit(stream, 0);
    const nowMs = this.clock.monotonicMs();
    return breaker.mayProbe(nowMs) ? route.permit(stream, breaker.beginProbe(nowMs)) : null;
  }

  /** Whether `begin` of an `auto/` walk would refuse now. Takes no probe slot. */
  isOpen(routeId: string): boolean {
    const breaker = this.routes.get(routeId)?.breaker;
    return breaker !== undefined && !breaker.closed && !breaker.mayProbe(this.clock.monotonicMs());
  }

  /** The speed of one stream, from its first to its last text. */
  recordThroughput(routeId: string, tokensPerSecond: number): void {
    (this.routes.get(routeId) ?? this.add(routeId)).recordThroughput(tokensPerSecond);
  }

  /** For operators: exact figures, without steps and without a minimum of attempts. */
  view(routeId: string): RouteHealthView {
    this.forgetOldOutcomes();
    const route = this.routes.get(routeId);
    if (!route) return { breaker: 'closed', latency_ms: null, error_rate: null };
    const { attempts, failures } = route.recent;
    return {
      breaker: route.breaker.state(this.clock.monotonicMs()),
      latency_ms: route.firstByteMs === null ? null : Math.round(route.firstByteMs),
      error_rate: attempts === 0 ? null : failures / attempts,
    };
  }

  /** Drops routes that left the catalogue. */
  forget(known: ReadonlySet<string>): void {
    for (const id of this.routes.keys()) {
      if (known.has(id)) continue;
      this.routes.delete(id);
      this.changes.value++;
    }
  }

  private add(routeId: string): RouteState {
    const route = new RouteState(this.clock, this.config, this.changes, () => this.opened(routeId));
    this.routes.set(routeId, route);
    return route;
  }

  /** Time alone changes a share. Checked once in each bucket and not on each request. */
  private forgetOldOutcomes(): void {
    const bucket = bucketAt(this.clock.monotonicMs());
    if (bucket === this.bucket) return;
    this.bucket = bucket;
    for (const route of this.routes.values()) route.forgetBefore(bucket);
  }
}

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

const unobserved: Observed = { firstByteMs: null, failureShare: 0 };

/** What was observed of one route; gives out the permits that report how its attempts end. */
class RouteState {
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
