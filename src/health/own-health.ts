/**
 * The health of candidates with a customer's own credential. It is kept apart from that of the routes, so that a bad credential of one
 * customer changes nothing for anybody else.
 */
import { RecentMap } from '../base/collections.js';
import { type Clock, startOfUtcDay, utcDay } from '../base/time.js';
import type { RouteCredential } from '../catalogue/route.js';
import { RouteHealth } from './route-health.js';

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
