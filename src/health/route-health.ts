/**
 * Keeps what this process has observed of each route: its breaker, its latency, its recent failures. The walk takes a permit
 * for an attempt and ends it with the outcome. Ranking reads figures in coarse steps, so that noise does not change the
 * order.
 */
import type { Clock } from '../base/time.js';
import type { Route } from '../catalogue/route.js';
import type { Config } from '../config/config.js';
import { type BreakerState, bucketAt, type Observed, RouteState, unobserved } from './route-state.js';

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

interface RouteHealthView {
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
    /** The most states that are kept. A new one then takes the place of one that was not used lately. */
    private readonly statesMax = Number.POSITIVE_INFINITY,
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
    const route = this.stateOf(routeId);
    const { breaker } = route;
    if (pin || breaker.closed) return new RoutePermit(route, stream, 0);
    const nowMs = this.clock.monotonicMs();
    return breaker.mayProbe(nowMs) ? new RoutePermit(route, stream, breaker.beginProbe(nowMs)) : null;
  }

  /** Whether `begin` of an `auto/` walk would refuse now. Takes no probe slot. */
  isOpen(routeId: string): boolean {
    const breaker = this.routes.get(routeId)?.breaker;
    return breaker !== undefined && !breaker.closed && !breaker.mayProbe(this.clock.monotonicMs());
  }

  /** The speed of one stream, from its first to its last text. */
  recordThroughput(routeId: string, tokensPerSecond: number): void {
    this.stateOf(routeId).recordThroughput(tokensPerSecond);
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

  /** How many states are kept. */
  get size(): number {
    return this.routes.size;
  }

  private stateOf(routeId: string): RouteState {
    const known = this.routes.get(routeId);
    if (known === undefined) return this.add(routeId);
    // While there are few, none is forgotten soon, and their order does not matter yet.
    if (this.routes.size > this.statesMax / 2) {
      this.routes.delete(routeId);
      this.routes.set(routeId, known);
    }
    return known;
  }

  private add(routeId: string): RouteState {
    if (this.routes.size >= this.statesMax) {
      for (const oldest of this.routes.keys()) {
        this.routes.delete(oldest);
        this.changes.value++;
        break;
      }
    }
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

class RoutePermit implements Permit {
  private over = false;
  private readonly openingsBefore: number;

  constructor(
    private readonly route: RouteState,
    private readonly stream: boolean,
    /** The number of the breaker's slot that the attempt took; 0 for none. */
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

interface HealthPorts<T> {
  readonly health: T;
  readonly own?: { readonly health: { readonly states: RouteHealth } };
}

/** Where the health of a candidate is kept: under `healthKeyOf` in both. */
export function healthOf<T>(
  { health, own }: HealthPorts<T>,
  { credential }: Pick<Route, 'credential'>,
): T | RouteHealth {
  return credential === undefined ? health : own!.health.states;
}

/** What breaker, latency and holds of a candidate are kept under. */
export function healthKeyOf({ id, credential }: Pick<Route, 'id' | 'credential'>): string {
  return credential === undefined ? id : credential.healthKey;
}
