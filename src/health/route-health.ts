/**
 * Keeps what this process has observed of each route: its breaker, its latency, its recent failures. The walk takes a permit
 * for an attempt and ends it with the outcome. Ranking reads figures in coarse steps, so that noise does not change the
 * order. Candidates with a customer's own credential are kept apart from the routes, so that a bad credential of one customer changes
 * nothing for anybody else.
 */
import { RecentMap } from '../base/collections.js';
import { type Clock, startOfUtcDay, utcDay } from '../base/time.js';
import type { Route, RouteCredential } from '../catalogue/route.js';
import type { Config } from '../config/config.js';
import type { BreakerState } from './breaker.js';
import { bucketAt, type Observed, type Permit, RouteState, unobserved } from './route-state.js';

export type { Observed, Permit } from './route-state.js';

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

/** Of candidates with own credentials. */
const statesMax = 10_000;
/** A credential that was refused is tried again by `auto/` once in this time. */
const refusedMs = 60_000;

/** Why `auto/` does not try a candidate now. */
export type Paused = 'credential_failing' | 'credential_held';

/** Times are monotonic milliseconds, except `untilMs` of a daily quota, which is epoch milliseconds. */
interface Pause {
  /** When `auto/` may try it again. */
  untilMs: number;
  readonly sinceMs: number;
}

type Credential = Pick<RouteCredential, 'secretKey' | 'healthKey'>;

/** What this process has observed of candidates with own credentials: breakers, latencies, and pauses of the credential. */
export class OwnHealth {
  readonly states: RouteHealth;
  /** Credentials that the provider refused, by their secret key. */
  private readonly refused = new RecentMap<Pause>(statesMax / 2);
  /** Credentials that wait after a rate limit, by their secret key. */
  private readonly waiting = new RecentMap<Pause>(statesMax / 2);
  /** Candidates whose daily quota is used up, by health key. */
  private readonly usedUp = new RecentMap<Pause>(statesMax / 2);
  /** Whether any credential was ever paused: until then there is nothing to look for. */
  private isTroubled = false;

  constructor(
    private readonly clock: Clock,
    config: ConstructorParameters<typeof RouteHealth>[1],
  ) {
    this.states = new RouteHealth(clock, config, undefined, statesMax);
  }

  /** null where it may be tried. */
  pauseOf(credential: Credential): Paused | null {
    const { secretKey, healthKey } = credential;
    const nowMs = this.clock.monotonicMs();
    if (isPaused(this.refused.get(secretKey), nowMs)) return 'credential_failing';
    if (isPaused(this.waiting.get(secretKey), nowMs)) return 'credential_held';
    return isPaused(this.usedUp.get(healthKey), this.clock.now()) ? 'credential_held' : null;
  }

  /** An attempt of `auto/` begins: of a refused credential the next one may begin a minute later. */
  tried({ secretKey }: Credential): void {
    if (!this.isTroubled) return;
    const refused = this.refused.get(secretKey);
    if (refused !== undefined) refused.untilMs = this.clock.monotonicMs() + refusedMs;
  }

  refuse({ secretKey }: Credential): void {
    this.isTroubled = true;
    const sinceMs = this.clock.monotonicMs();
    this.refused.set(secretKey, { untilMs: sinceMs + refusedMs, sinceMs });
  }

  wait({ secretKey }: Credential, ms: number): void {
    this.isTroubled = true;
    const sinceMs = this.clock.monotonicMs();
    this.waiting.set(secretKey, { untilMs: sinceMs + ms, sinceMs });
  }

  /** For as long as the provider says, else until midnight UTC. */
  useUp({ healthKey }: Credential, statedMs: number | null): void {
    this.isTroubled = true;
    const now = this.clock.now();
    const untilMs = statedMs === null ? startOfUtcDay(utcDay(now) + 1) : now + statedMs;
    this.usedUp.set(healthKey, { untilMs, sinceMs: this.clock.monotonicMs() });
  }

  /** It has served. The success of an attempt that began before a pause says nothing about the pause. */
  succeeded({ secretKey, healthKey }: Credential, beganAtMs: number): void {
    if (!this.isTroubled) return;
    endPause(this.refused, secretKey, beganAtMs);
    endPause(this.waiting, secretKey, beganAtMs);
    endPause(this.usedUp, healthKey, beganAtMs);
  }
}

function isPaused(pause: Pause | undefined, nowMs: number): boolean {
  return pause !== undefined && nowMs < pause.untilMs;
}

function endPause(pauses: RecentMap<Pause>, key: string, beganAtMs: number): void {
  const pause = pauses.get(key);
  if (pause !== undefined && pause.sinceMs <= beganAtMs) pauses.delete(key);
}

interface HealthPorts<T> {
  readonly health: T;
  readonly own?: { readonly health: OwnHealth };
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
