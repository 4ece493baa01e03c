import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { measuredTime } from '../../tests/support/measured-time.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { silentLogger as logger } from '../base/logger.js';
import { utcDay } from '../base/time.js';
import { HoldFiles } from './hold-files.js';
import { QuotaHolds } from './quota-holds.js';

const route = 'acme/meta/llama/defra';
const noon = Date.parse('2026-03-01T12:00:00Z');
const today = utcDay(noon);

let folder: string;
let dir: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-holds-'));
  dir = join(folder, 'holds');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const holdsOn = (store: MemoryStore, at = noon) =>
  new QuotaHolds({ store: store.holds, clock: new ManualClock(at), logger, dir });

describe('a hold that the store does not have yet', () => {
  it('is in a file in the same turn, and a process after a crash takes it over and stores it', async () => {
    const store = new MemoryStore();
    store.away = true;
    void holdsOn(store).hold(route, 'upstream');
    expect(readdirSync(dir)).toHaveLength(1);
    store.away = false;
    const next = holdsOn(store);
    await next.load();
    expect(next.view(route)?.reason).toBe('upstream');
    await next.close();
    expect(store.holdRows.size).toBe(1);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('has no file any more once it is stored or lifted', async () => {
    const store = new MemoryStore();
    const holds = holdsOn(store);
    await holds.hold(route, 'upstream');
    expect([store.holdRows.size, readdirSync(dir)]).toEqual([1, []]);
    store.away = true;
    void holds.hold('zeta/meta/llama/global', 'upstream');
    store.away = false;
    expect(await holds.lift('zeta/meta/llama/global')).toBe(true);
    expect(readdirSync(dir)).toEqual([]);
    const next = holdsOn(store);
    await next.load();
    expect([next.isHeld(route), next.isHeld('zeta/meta/llama/global')]).toEqual([true, false]);
  });

  it('is waited for, but not long', async () => {
    const store = new MemoryStore();
    store.hold = new Promise(() => {});
    const startedAt = performance.now();
    await holdsOn(store).hold(route, 'upstream');
    expect(performance.now() - startedAt, measuredTime).toBeLessThan(10_000);
    expect(readdirSync(dir)).toHaveLength(1);
  });
});

describe('the files of holds', () => {
  const record = { utcDay: today, routeId: route, reason: 'upstream' as const, quotaLifted: false };

  it('of earlier days, and what is no record, are removed', () => {
    const files = new HoldFiles(dir, logger);
    expect(files.take(today)).toEqual([]);
    files.keep(record);
    files.keep({ ...record, utcDay: today - 1 });
    files.keep({ ...record, utcDay: today + 1, routeId: 'zeta/meta/llama/global' });
    writeFileSync(join(dir, `${today}-${'0'.repeat(32)}.json`), '{"utcDay":');
    writeFileSync(join(dir, 'other'), '');
    expect(files.take(today).map(({ utcDay }) => utcDay)).toEqual([today, today + 1]);
    expect(readdirSync(dir)).toHaveLength(2);
  });

  it('that cannot be written fail nothing', async () => {
    writeFileSync(dir, 'a file where the directory belongs');
    const store = new MemoryStore();
    const holds = holdsOn(store);
    await holds.hold(route, 'upstream');
    expect([holds.isHeld(route), store.holdRows.size]).toEqual([true, 1]);
    rmSync(dir);
    mkdirSync(dir);
  });
});
