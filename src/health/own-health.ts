/**
 * What this process has observed of candidates with a customer's own credential: breakers and latencies, and pauses of the credential. It
 * is kept apart from the health of routes, so that a bad credential of one customer changes nothing for anybody else.
 */
import { RecentMap } from '../base/collections.js';
import { type Clock, startOfUtcDay, utcDay } from '../base/time.js';
import type { Route, RouteCredential } from '../catalogue/route.js';
import { type RouteHealth, RouteHealth as States } from './route-health.js';

const statesMax = 10_000;
/** A credential that was refused is tried again by `auto/` once in this time. */
const refusedMs = 60_000;

/** Why `auto/` does not try a candidate now. */
export type Paused = 'credential_failing' | 'credential_held';

interface Refused {
  /** When it may be tried again. */
  againAtMs: number;
}

type Credential = Pick<RouteCredential, 'id' | 'healthKey'>;

export class OwnHealth {
  readonly states: RouteHealth;
  /** Credentials that the provider refused, by the part of the health key that names the credential and its secret. */
  private readonly refused = new RecentMap<Refused>(statesMax / 2);
  /** Until when a credential waits after a rate limit, in monotonic milliseconds. */
  private readonly waiting = new RecentMap<number>(statesMax / 2);
  /** Candidates whose daily quota is used up, by health key: until when, in epoch milliseconds. */
  private readonly usedUp = new RecentMap<number>(statesMax / 2);

  constructor(
    private readonly clock: Clock,
    config: ConstructorParameters<typeof States>[1],
  ) {
    this.states = new States(clock, config, undefined, statesMax);
  }

  /** null where it may be tried. */
  pauseOf(credential: Credential): Paused | null {
    const name = nameOf(credential);
    const refused = this.refused.get(name);
    if (refused !== undefined && this.clock.monotonicMs() < refused.againAtMs) return 'credential_failing';
    if ((this.waiting.get(name) ?? Number.NEGATIVE_INFINITY) > this.clock.monotonicMs()) return 'credential_held';
    return (this.usedUp.get(credential.healthKey) ?? 0) > this.clock.now() ? 'credential_held' : null;
  }

  /** An attempt of `auto/` begins: of a refused credential the next one may begin a minute later. */
  tried(credential: Credential): void {
    const refused = this.refused.get(nameOf(credential));
    if (refused !== undefined) refused.againAtMs = this.clock.monotonicMs() + refusedMs;
  }

  refuse(credential: Credential): void {
    this.refused.set(nameOf(credential), { againAtMs: this.clock.monotonicMs() + refusedMs });
  }

  wait(credential: Credential, ms: number): void {
    this.waiting.set(nameOf(credential), this.clock.monotonicMs() + ms);
  }

  /** For as long as the provider says, else until midnight UTC. */
  useUp(credential: Credential, statedMs: number | null): void {
    const now = this.clock.now();
    this.usedUp.set(credential.healthKey, statedMs === null ? startOfUtcDay(utcDay(now) + 1) : now + statedMs);
  }

  /** It has served. */
  succeeded(credential: Credential): void {
    const name = nameOf(credential);
    const refused = this.refused.get(name);
    if (refused !== undefined) refused.againAtMs = Number.NEGATIVE_INFINITY;
    if (this.waiting.get(name) !== undefined) this.waiting.set(name, Number.NEGATIVE_INFINITY);
  }
}

/** The part of a health key behind the route's id. */
function nameOf({ healthKey }: Credential): string {
  return healthKey.slice(healthKey.indexOf(' ') + 1);
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
