/**
 * Buckets that all processes of a fleet share: a fleet admits no more attempts than one process would. They are counted here as
 * well, and here alone while Redis is away.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { Bucket, Buckets } from '../buckets.js';
import { MemoryBuckets } from '../memory-buckets.js';
import { patientWaitMs, type RedisLink, requestWaitMs } from './link.js';
import { giveBackScript, takeBucketsScript } from './scripts.js';

export class RedisBuckets implements Buckets {
  private readonly local: MemoryBuckets;

  constructor(
    private readonly link: RedisLink,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.local = new MemoryBuckets(clock);
  }

  async take(buckets: readonly Bucket[]): Promise<number> {
    const localWaitMs = this.local.take(buckets);
    // What this process alone has used up, the fleet has too.
    if (localWaitMs > 0) return localWaitMs;
    const figures = buckets.flatMap(({ capacity, refillMs }) => [String(capacity), String(refillMs)]);
    const waitMs = await this.link.run<number>(takeBucketsScript, this.keysOf(buckets), figures, requestWaitMs);
    if (waitMs !== null && waitMs > 0) this.local.giveBack(buckets);
    return waitMs ?? 0;
  }

  async giveBack(buckets: readonly Bucket[]): Promise<void> {
    this.local.giveBack(buckets);
    const figures = buckets.map(({ refillMs }) => String(refillMs));
    await this.link.run(giveBackScript, this.keysOf(buckets), figures, patientWaitMs);
  }

  /** By their hash: the names hold e-mail addresses, which Redis need not know. */
  private keysOf(buckets: readonly Bucket[]): string[] {
    return buckets.map(({ name }) => `${this.link.prefix}b:${createHash('sha256').update(name).digest('base64url')}`);
  }
}
