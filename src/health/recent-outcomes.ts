/** Counts the attempts and failures of a route in the last five minutes, in ten buckets of 30 s. */
const bucketMs = 30_000;
const buckets = 10;

/** The bucket of a moment of monotonic time. */
export const bucketAt = (nowMs: number): number => Math.floor(nowMs / bucketMs);

export class RecentOutcomes {
  /** Attempts and failures of each bucket, side by side. */
  private readonly counts = new Uint32Array(2 * buckets);
  attempts = 0;
  failures = 0;

  constructor(private newest: number) {}

  add(bucket: number, failed: boolean): void {
    this.moveTo(bucket);
    const slot = 2 * (this.newest % buckets);
    this.counts[slot]!++;
    this.attempts++;
    if (!failed) return;
    this.counts[slot + 1]!++;
    this.failures++;
  }

  /** Drops buckets older than five minutes. */
  moveTo(bucket: number): void {
    if (bucket <= this.newest) return;
    for (let passed = Math.min(bucket - this.newest, buckets), at = bucket; passed > 0; passed--, at--) {
      const slot = 2 * (at % buckets);
      this.attempts -= this.counts[slot]!;
      this.failures -= this.counts[slot + 1]!;
      this.counts[slot] = 0;
      this.counts[slot + 1] = 0;
    }
    this.newest = bucket;
  }
}
