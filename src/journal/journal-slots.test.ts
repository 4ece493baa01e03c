import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { endOfTurn, many, Settled } from '../../tests/support/journal-place.js';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import type { Generation } from '../domain/generation.js';
import { lineText, settlementRow } from '../domain/settlement-row.js';
import { type JournalSlot, openJournalSlot, type SlotOptions, slotDir, slotDirs } from './journal-slots.js';
import { Settler, type SettlerOptions } from './settler.js';

let dataDir: string;
let store: Settled;
let open: JournalSlot[] = [];
const settlers: Settler[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lodestone-slots-'));
  store = new Settled();
});
afterEach(async () => {
  store.away = false;
  await Promise.all(open.splice(0).map((journal) => journal.close()));
  await Promise.all(settlers.splice(0).map((settler) => settler.stop()));
  rmSync(dataDir, { recursive: true, force: true });
});

function settlerOf(options: Partial<SettlerOptions> = {}): Settler {
  const { settle, offsetPort: offsets } = store;
  const common = { dirs: () => slotDirs(dataDir), settle, offsets, clock: systemClock, logger: silentLogger };
  const settler = new Settler({ ...common, flushMs: 20, ...options });
  settlers.push(settler);
  return settler;
}

async function start(options: Partial<SlotOptions> = {}): Promise<JournalSlot> {
  const common = { dataDir, shared: true, logger: silentLogger };
  const settler = options.settler ?? settlers[0] ?? settlerOf();
  const journal = await openJournalSlot({ ...common, settler, closeMs: 500, ...options });
  open.push(journal);
  return journal;
}

/** What a dead process left: segments, and no lock with a live holder. */
function leave(slot: number, records: Generation[], version = '2'): void {
  mkdirSync(slotDir(dataDir, slot), { recursive: true });
  const lines = records.map((generation) => `${lineText(settlementRow(generation))}\n`).join('');
  writeFileSync(join(slotDir(dataDir, slot), `000000000001.${version}.log`), lines);
}

const filesOf = (slot: number) => readdirSync(slotDir(dataDir, slot));
const ids = (records: Iterable<Generation>) => [...records].map(({ id }) => id).sort();

describe('the journals of processes that share a data directory', () => {
  it('give each process a slot of its own, the first free one', async () => {
    const [first, second, third] = [await start(), await start(), await start()];
    expect([first.slot, second.slot, third.slot]).toEqual([0, 1, 2]);
    await second.close();
    open = [first, third];
    expect((await start()).slot).toBe(1);
    expect(readdirSync(dataDir).sort()).toEqual(['journal', 'journal-1', 'journal-2']);
  });

  it('are one where nobody shares: a second process is refused, as ever', async () => {
    await start({ shared: false });
    await expect(start({ shared: false })).rejects.toThrow(`pid ${process.pid}`);
  });

  it('are all settled, also what is left in free slots, and when there are fewer processes than before', async () => {
    const left = many(5);
    leave(0, left.slice(0, 2));
    leave(3, left.slice(2, 4));
    leave(12, left.slice(4));
    const journal = await start({ shared: false });
    expect(await journal.replayed(5_000)).toBe(true);
    expect(ids(store.records.values())).toEqual(ids(left));
    expect([filesOf(3), filesOf(12)]).toEqual([[], []]);
  });

  it('are not replayed before the store has what was left in all of them', async () => {
    leave(0, many(1));
    leave(4, many(2));
    store.away = true;
    const journal = await start();
    expect(await journal.replayed(50)).toBe(false);
    expect(filesOf(4)).toContain('000000000001.2.log');
    store.away = false;
    expect(await journal.replayed(2000)).toBe(true);
    expect(store.records.size).toBe(3);
    expect(filesOf(4)).toEqual([]);
  });

  it('are left alone while their process lives and has another settler', async () => {
    const elsewhere = settlerOf({ dirs: () => [], flushMs: 60_000 });
    const first = await start({ settler: elsewhere });
    const second = await start({ settler: settlerOf() });
    first.append(aGeneration());
    await endOfTurn();
    expect(await second.replayed(5_000)).toBe(true);
    expect(store.records.size).toBe(0);
    expect(filesOf(0).some((name) => name.startsWith('000000000001.5.'))).toBe(true);
  });

  it('are looked for from time to time', async () => {
    await start();
    const left = many(3);
    leave(7, left);
    await expect.poll(() => ids(store.records.values())).toEqual(ids(left));
  });

  it('stop a start that another version left something for, and are only told of later', async () => {
    const errors: string[] = [];
    const logger = { ...silentLogger, error: (fields: object) => errors.push(JSON.stringify(fields)) };
    const journal = await start({ settler: settlerOf({ logger }) });
    leave(5, many(1), '1');
    expect(await journal.replayed(100)).toBe(false);
    expect(errors.join()).toContain('another version');
    await expect(start()).rejects.toThrow('another version');
    expect(await start({ dataDir: mkdtempSync(join(dataDir, 'other-')) })).toMatchObject({ slot: 0 });
  });
});

describe('a settler', () => {
  it('that is replaced goes on behind what the one before has settled, and bills nothing twice', async () => {
    const first = settlerOf({ flushMs: 60_000 });
    const journal = await start({ settler: first });
    const streams = many(2);
    journal.appendProvisional({ ...streams[0]!, costPico: 3n });
    for (const generation of many(10)) journal.append(generation);
    expect(await journal.settled(5_000)).toBe(true);
    expect(store.records.size).toBe(10);
    await first.stop();
    journal.append(streams[1]!);
    await endOfTurn();
    const settled: string[] = [];
    const second = settlerOf({
      settle: async (rows, offsets) => {
        settled.push(...rows.map((row) => lineText(row).split('\t', 1)[0]!));
        await store.settle(rows, offsets);
      },
    });
    const [run] = [...store.offsets.keys()];
    const attachment = second.attach({ dir: slotDir(dataDir, 0), run: run! }, () => {});
    attachment.hurry(Number.MAX_SAFE_INTEGER);
    await expect.poll(() => settled).toEqual([streams[1]!.id]);
    // The stream that has only a provisional record is not forgotten.
    attachment.end();
    await expect.poll(() => settled).toEqual([streams[1]!.id, streams[0]!.id]);
    expect(store.records.get(streams[0]!.id)).toMatchObject({ costPico: 3n });
    open = [];
    await journal.close().catch(() => {});
  });

  it('settles records of several processes in one batch, in the order of each', async () => {
    const settler = settlerOf({ flushMs: 60_000 });
    const journals = [await start({ settler }), await start({ settler })];
    const all = journals.map(() => many(50));
    for (const [i, journal] of journals.entries()) for (const generation of all[i]!) journal.append(generation);
    await endOfTurn();
    expect(await journals[0]!.settled(5_000)).toBe(true);
    expect(store.largestBatch).toBe(100);
    const found = [...store.records.keys()];
    for (const records of all) {
      const own = records.map(({ id }) => id);
      expect(found.filter((id) => own.includes(id))).toEqual(own);
    }
  });

  it('notes how far a journal is settled, and forgets it with the journal', async () => {
    const journal = await start();
    for (const generation of many(3)) journal.append(generation);
    await journal.settled(5_000);
    expect([...store.offsets.values()]).toEqual([expect.objectContaining({ records: 3 })]);
    await journal.close();
    open = [];
    expect(store.offsets.size).toBe(0);
    expect(filesOf(0)).toEqual([]);
  });
});
