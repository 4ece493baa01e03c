/** Buckets of one process, bounded whoever asks. */
import type { Clock } from '../base/clock.js';
import type { Bucket, Buckets } from './buckets.js';

interface Level {
  left: number;
  atMs: number;
}

/** When there are more, the one that was touched longest ago is forgotten: it is the likeliest to be full again. */
const levelsMax = 50_000;

export class MemoryBuckets implements Buckets {
  private readonly levels = new Map<string, Level>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  take(buckets: readonly Bucket[]): number {
    const nowMs = this.clock.monotonicMs();
    const waitMs = Math.max(...buckets.map((bucket) => waitOf(bucket, this.levelOf(bucket, nowMs))));
    if (waitMs === 0) for (const bucket of buckets) this.lower(bucket, nowMs, 1);
    return waitMs;
  }

  giveBack(buckets: readonly Bucket[]): void {
    const nowMs = this.clock.monotonicMs();
    for (const bucket of buckets) this.lower(bucket, nowMs, -1);
  }

  /** How many are held. */
  get size(): number {
    return this.levels.size;
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
