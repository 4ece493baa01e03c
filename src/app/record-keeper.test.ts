import { describe, expect, it } from 'vitest';
import { memoryRecords } from '../../tests/support/memory-records.js';
import { silentLogger as logger } from '../base/logger.js';
import { systemClock as clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { RecordKeeper, retentionOf } from './record-keeper.js';

const configured = (generations: number | 'keep' | null) =>
  ({ storage: { retention: generations === null ? null : { generations } } }) as unknown as Config;

describe('the keeper of the records', () => {
  it('closes also in the middle of a round', async () => {
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const records = { ...memoryRecords, ensurePartitions: () => held.then(() => []) };
    const keeper = new RecordKeeper({ records, retention: null, clock, logger });
    const closed = keeper.close();
    go();
    await closed;
  });

  it('prunes each month that is older than the retention, once earlier generations are in the rollups', async () => {
    const calls: string[] = [];
    const month = { monthMs: 0, accounts: 1, requests: 2 };
    let parts = 2;
    let done = () => {};
    const pruned = new Promise<void>((resolve) => {
      done = resolve;
    });
    const records = {
      ...memoryRecords,
      backfill: async () => calls.push('backfill') > 0 && parts-- > 0,
      prunable: async () => [month],
      prune: async () => {
        calls.push('prune');
        done();
      },
    };
    const keeper = new RecordKeeper({ records, retention: retentionOf(configured(13)), clock, logger });
    await pruned;
    await keeper.close();
    expect(calls).toEqual(['backfill', 'backfill', 'backfill', 'prune']);
  });

  it('keeps the month in which the retention ends, and everything without one', () => {
    const now = Date.parse('2026-11-16T12:00:00Z');
    expect(new Date(retentionOf(configured(13))!.cutOff(now)).toISOString()).toBe('2025-10-01T00:00:00.000Z');
    expect([retentionOf(configured(null)), retentionOf(configured('keep'))]).toEqual([null, null]);
  });
});
