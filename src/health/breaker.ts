/**
 * The circuit breaker of one route: opens when enough counted failures fall into a sliding window, then lets one
 * probe at a time through. It has no timer: every answer follows from the monotonic time it is given, so it cannot stick.
 */
export interface BreakerConfig {
  /** Counted failures within the window that open it. */
  readonly failures: number;
  readonly windowMs: number;
  readonly cooldownMs: number;
  /** A probe whose end was never reported is given up after this long. */
  readonly probeMaxMs: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

interface CountedFailure {
  readonly atMs: number;
  /** Until when its `Retry-After` asked us to stay away; `atMs` where it had none. */
  readonly awayUntilMs: number;
}

/** An upstream may ask for patience, but not take itself out for a day with one header. */
const cooldownsMax = 10;

export class Breaker {
  /** The newest failures since the last success, at most as many as open it; oldest first. */
  private recent: CountedFailure[] = [];
  /** null = closed; once it is past, half-open. */
  private openUntilMs: number | null = null;
  private probeSinceMs: number | null = null;
  private probe = 0;
  /** How often it has opened. */
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

  /** Takes the slot; the number that frees it again. */
  beginProbe(nowMs: number): number {
    this.probeSinceMs = nowMs;
    return ++this.probe;
  }

  /** A probe that was given up, or that an opening since has made an ordinary attempt, frees nothing. */
  endProbe(probe: number): void {
    if (probe === this.probe) this.probeSinceMs = null;
  }

  /** Closes it and clears the count. A probe still under way is then none any more. */
  succeeded(): void {
    if (this.recent.length > 0) this.recent = [];
    if (this.openUntilMs === null) return;
    this.openUntilMs = null;
    this.probeSinceMs = null;
    this.probe++;
  }

  /** While open it changes nothing: a pin's failures must not keep the route away from `auto/` for ever. */
  failed(nowMs: number, retryAfterMs: number | null): void {
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
