/**
 * How often somebody may try (failure case H14). Each attempt takes one from every bucket that it belongs to, before its
 * outcome is known, so that attempts at the same time count too; a success gives them back. Buckets refill slowly and for
 * ever, so nothing is locked, and an attempt that is refused takes nothing: guesses from one address soon cost the account's
 * other visitors nothing more.
 */
import type { Clock } from '../../base/clock.js';
import { gatewayError } from '../../errors/gateway-error.js';

export interface Bucket {
  readonly name: string;
  /** Attempts at once. */
  readonly capacity: number;
  /** One more after this time. */
  readonly refillMs: number;
}

interface Level {
  left: number;
  atMs: number;
}

/** When there are more, the one that was touched longest ago is forgotten: it is the likeliest to be full again. */
const levelsMax = 50_000;

export class GuessLimiter {
  private readonly levels = new Map<string, Level>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** Throws too_many_attempts, with the time after which all of the buckets have one again. */
  take(buckets: readonly Bucket[]): void {
    const nowMs = this.clock.monotonicMs();
    const waitMs = Math.max(...buckets.map((bucket) => waitOf(bucket, this.levelOf(bucket, nowMs))));
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000);
      throw gatewayError('too_many_attempts', { seconds }, { retryAfterSeconds: seconds });
    }
    for (const bucket of buckets) this.lower(bucket, nowMs, 1);
  }

  giveBack(buckets: readonly Bucket[]): void {
    const nowMs = this.clock.monotonicMs();
    for (const bucket of buckets) this.lower(bucket, nowMs, -1);
  }

  private lower(bucket: Bucket, nowMs: number, by: number): void {
    const { left } = this.levelOf(bucket, nowMs);
    this.levels.delete(bucket.name);
    this.levels.set(bucket.name, { left: Math.min(bucket.capacity, left - by), atMs: nowMs });
    if (this.levels.size > levelsMax) this.levels.delete(this.levels.keys().next().value!);
  }

  private levelOf({ name, capacity, refillMs }: Bucket, nowMs: number): Level {
    const level = this.levels.get(name);
    if (!level) return { left: capacity, atMs: nowMs };
    return { left: Math.min(capacity, level.left + (nowMs - level.atMs) / refillMs), atMs: nowMs };
  }
}

function waitOf({ refillMs }: Bucket, { left }: Level): number {
  return left >= 1 ? 0 : (1 - left) * refillMs;
}
