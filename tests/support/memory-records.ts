/** The records part of the memory store, which has no partitions and no rollups: nothing to look after, and nothing to find. */
import { Readable } from 'node:stream';
import type { RecordStore } from '../../src/storage/store.js';

export const memoryRecords: RecordStore = {
  ensurePartitions: async () => [],
  rollUpLate: async () => 0,
  backfill: async () => false,
  gatherDay: async () => false,
  sumHours: async () => false,
  prunable: async () => [],
  prune: async () => {},
  check: async () => ({ accounts: 0, generations: 0, faults: [] }),
  moveTo: async () => [],
  export: async () => Readable.from([]),
};
