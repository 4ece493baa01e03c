import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { compiled } from '../../tests/support/compiled.js';
import { aGeneration } from '../../tests/support/generation.js';
import { endOfTurn, many, Settled } from '../../tests/support/journal-place.js';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import type { Generation } from '../domain/generation.js';
import { lineText, type SettlementRow, settlementRow } from '../domain/settlement-row.js';
import { type JournalSlot, openJournalSlot, type SlotOptions, slotDir } from './journal-slots.js';

let dataDir: string;
let store: Settled;
let open: JournalSlot[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lodestone-slots-'));
  store = new Settled();
});
afterEach(async () => {
  store.away = false;
  await Promise.all(open.splice(0).map((journal) => journal.close()));
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(options: Partial<SlotOptions> = {}): Promise<JournalSlot> {
  const common = { dataDir, shared: true, settle: store.settle, clock: systemClock, logger: silentLogger };
  const journal = await openJournalSlot({ ...common, closeMs: 500, settleMs: 200, ...options });
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
const ids = (records: Generation[]) => records.map(({ id }) => id).sort();

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

  it('settle at start what is left in every free slot, also when there are fewer processes than before', async () => {
    const left = many(5);
    leave(0, left.slice(0, 2));
    leave(3, left.slice(2, 4));
    leave(12, left.slice(4));
    const journal = await start({ shared: false });
    expect(ids([...store.records.values()])).toEqual(ids(left));
    expect(await journal.replayed(1000)).toBe(true);
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

  it('are left alone while their process lives', async () => {
    const first = await start({ flushMs: 60_000 });
    const second = await start();
    first.append(aGeneration());
    await endOfTurn();
    expect(await second.adopt()).toBe(true);
    expect(store.records.size).toBe(0);
    expect(filesOf(0)).toContain('000000000001.4.log');
  });

  it('are looked for from time to time', async () => {
    await start({ adoptMs: 20 });
    const left = many(3);
    leave(7, left);
    await vi.waitFor(() => expect(ids([...store.records.values()])).toEqual(ids(left)));
  });

  it('are replayed by one process at a time', async () => {
    const replaying = new Map<string, number>();
    let most = 0;
    const settle = async (rows: readonly SettlementRow[]) => {
      const slot = lineText(rows[0]!).slice(0, 30);
      replaying.set(slot, (replaying.get(slot) ?? 0) + 1);
      most = Math.max(most, replaying.get(slot)!);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await store.settle(rows);
      replaying.set(slot, replaying.get(slot)! - 1);
    };
    const journals = await Promise.all(Array.from({ length: 4 }, () => start({ settle })));
    for (let slot = 10; slot < 16; slot++) leave(slot, many(2));
    await Promise.all(journals.map((journal) => journal.adopt()));
    expect(store.records.size).toBe(12);
    expect(most).toBe(1);
  });

  it('stop a start that another version left something for, and are only told of later', async () => {
    const errors: string[] = [];
    const logger = { ...silentLogger, error: (fields: object) => errors.push(JSON.stringify(fields)) };
    const journal = await start({ logger });
    leave(5, many(1), '1');
    expect(await journal.adopt()).toBe(false);
    expect(errors.join()).toContain('another version');
    await expect(start()).rejects.toThrow('another version');
    expect(await start({ dataDir: mkdtempSync(join(dataDir, 'other-')) })).toMatchObject({ slot: 0 });
  });

  it('take up a round for every call, but never more than one that waits', async () => {
    const journal = await start();
    let rounds = 0;
    const settle = store.settle;
    store.away = true;
    leave(2, many(1));
    const slow = await start({
      settle: async (rows) => {
        rounds++;
        await settle(rows);
      },
    });
    const before = rounds;
    await Promise.all(Array.from({ length: 50 }, () => slow.adopt()));
    expect(rounds - before).toBeLessThan(20);
    store.away = false;
    expect(await slow.adopt()).toBe(true);
    expect(await journal.adopt()).toBe(true);
  });
});

describe('the slot of a process that was killed', () => {
  let code: string;
  beforeAll(() => {
    code = compiled('journal/journal-slots', 'base/logger', 'base/time', 'storage/store');
    writeFileSync(
      join(code, 'child.mjs'),
      `import { openJournalSlot } from './journal/journal-slots.js';
       import { silentLogger } from './base/logger.js';
       import { systemClock } from './base/time.js';
       import { StoreUnavailable } from './storage/store.js';
       const settle = async () => { throw new StoreUnavailable(new Error('away')); };
       const journal = await openJournalSlot({
         dataDir: process.argv[2], shared: true, settle, clock: systemClock, logger: silentLogger,
       });
       const generation = JSON.parse(process.argv[3]);
       for (let i = 0; i < 100; i++)
         journal.append({ ...generation, id: 'gen-' + journal.slot + String(i).padStart(25, '0'), costPico: 1n });
       setImmediate(() => console.log(journal.slot));
       setInterval(() => {}, 1000);`,
    );
  });
  afterAll(() => rmSync(code, { recursive: true, force: true }));

  it('is held until then, and adopted whole by a sibling that is told', async () => {
    const journal = await start();
    const { costPico: _, ...generation } = aGeneration({ bill: null });
    const args = [join(code, 'child.mjs'), dataDir, JSON.stringify(generation)];
    const children = [1, 2].map(() => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    const slots = await Promise.all(
      children.map(async ({ stdout }) => Number(String((await once(stdout, 'data'))[0]))),
    );
    expect(slots.sort()).toEqual([1, 2]);
    await journal.adopt();
    expect(store.records.size).toBe(0);
    for (const child of children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect(await journal.adopt()).toBe(true);
    expect(store.records.size).toBe(200);
    expect([filesOf(1), filesOf(2)]).toEqual([[], []]);
  });
});
