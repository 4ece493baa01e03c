import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { bucketAt, RecentOutcomes } from './route-state.js';

describe('the outcomes of the last five minutes', () => {
  it('are exactly those of the ten newest buckets, whatever the gaps between them', () => {
    const random = new SeededRandom(7);
    const recent = new RecentOutcomes(0);
    const all: { bucket: number; failed: boolean }[] = [];
    let nowMs = 0;
    for (let i = 0; i < 5000; i++) {
      nowMs += random.chance(0.02) ? random.below(900_000) : random.below(20_000);
      const bucket = bucketAt(nowMs);
      const failed = random.chance(0.3);
      all.push({ bucket, failed });
      recent.add(bucket, failed);
      const counted = all.filter((one) => one.bucket > bucket - 10);
      expect([recent.attempts, recent.failures]).toEqual([counted.length, counted.filter((one) => one.failed).length]);
    }
  });

  it('are gone when nothing happened for five minutes', () => {
    const recent = new RecentOutcomes(bucketAt(1000));
    recent.add(bucketAt(1000), true);
    recent.moveTo(bucketAt(299_999));
    expect(recent.attempts).toBe(1);
    recent.moveTo(bucketAt(300_000));
    expect([recent.attempts, recent.failures]).toEqual([0, 0]);
  });
});
