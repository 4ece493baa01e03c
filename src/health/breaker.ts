/**
 * The circuit breaker of one route. It opens after enough counted failures within a sliding window and then admits one probe
 * at a time. It has no timer: its state follows from the monotonic time that callers pass, so it cannot get stuck.
 */
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
