import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { silentLogger as logger } from '../base/logger.js';
import { QuotaHolds } from './quota-holds.js';

const route = 'acme/meta/llama/defra';
const noon = Date.parse('2026-03-01T12:00:00Z');

describe('a quota hold in a fleet', () => {
  it('can be waited for, until the store has it and the others know; where there are no others, there is nothing to wait for', async () => {
    const store = new MemoryStore();
    const known: number[] = [];
    const changed = async () => void known.push(store.holdRows.size);
    const holds = new QuotaHolds({ store: store.holds, clock: new ManualClock(noon), logger, changed });
    await holds.hold(route, 'upstream');
    expect(known).toEqual([1]);
    expect(holds.hold(route, 'upstream')).toBeUndefined();
    const alone = new QuotaHolds({ store: new MemoryStore().holds, clock: new ManualClock(noon), logger });
    await alone.hold(route, 'upstream');
    expect(alone.hold(route, 'upstream')).toBeUndefined();
  });

  it('does not wait long where the other processes cannot be notified', async () => {
    const store = new MemoryStore();
    const changed = () => new Promise<void>(() => {});
    const holds = new QuotaHolds({ store: store.holds, clock: new ManualClock(noon), logger, changed });
    const startedAt = performance.now();
    await holds.hold(route, 'upstream');
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    store.away = true;
    await holds.hold('acme/meta/llama/usnyc', 'upstream');
    store.away = false;
    await holds.close();
  });
});
