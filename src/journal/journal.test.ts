import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compiled } from '../../tests/support/compiled.js';
import { aGeneration } from '../../tests/support/generation.js';
import { endOfTurn, JournalPlace, many } from '../../tests/support/journal-place.js';
import { freshDatabase } from '../../tests/support/postgres.js';
import { silentLogger } from '../base/logger.js';
import type { Generation } from '../domain/generation.js';
import { lineText, type SettlementRow, settlementRow } from '../domain/settlement-row.js';
import { openStore } from '../storage/open-store.js';
import { recordBytes } from './record.js';
import { Tail } from './tail.js';

const journalLine = (generation: Generation): string => lineText(settlementRow(generation));

describe('the settlement journal', () => {
  let place: JournalPlace;
  beforeEach(() => {
    place = new JournalPlace();
  });
  afterEach(() => place.remove());

  it('settles what is appended by itself, and at once when somebody waits for it', async () => {
    const journal = await place.start({ flushMs: 20 });
    const [first, second] = many(2);
    journal.append(first!);
    expect(journal.depth).toBe(1);
    await expect.poll(() => place.store.records.get(first!.id)).toEqual(first);
    const slow = await place.start({ dir: join(place.root, 'slow'), flushMs: 60_000 });
    slow.append(second!);
    expect(await slow.settled(5000)).toBe(true);
    expect(place.store.records.get(second!.id)).toEqual(second);
    expect(slow.depth).toBe(0);
  });

  it('finds a record that is not in the store yet, by both of its ids, and no provisional one', async () => {
    place.store.away = true;
    const journal = await place.start();
    const [first, second, third] = many(3);
    journal.appendProvisional(first!);
    for (const generation of [second!, third!]) journal.append(generation);
    expect(journal.unsettled(third!.id)).toEqual(third);
    expect(journal.unsettled(second!.requestId)).toEqual(second);
    expect([journal.unsettled(first!.id), journal.unsettled('gen-none')]).toEqual([null, null]);
    place.store.away = false;
    expect(await journal.settled(5000)).toBe(true);
    expect(journal.unsettled(third!.id)).toBeNull();
  });

  it('settles once what a crash left between the file and the store', async () => {
    place.store.away = true;
    const journal = await place.start();
    const odd = '\\N \t\r\n "quoted" \\. \u{1F600} é \u2028';
    const attempt = { provider: odd, locode: 'x', outcome: odd, status: 1, first_byte_ms: 0.5, error: `${odd}\u0000` };
    const all = [
      aGeneration({ keyName: odd, costPico: 2n ** 70n, firstByteMs: null, attempts: [attempt] }),
      aGeneration({ keyName: 'm'.repeat(3 << 20), providersAttempted: [odd] }),
      ...many(3),
    ];
    for (const generation of all) journal.append(generation);
    await endOfTurn();
    place.store.away = false;
    const reopened = await place.start({ dir: place.afterKill() });
    expect(reopened.depth).toBe(0);
    expect([...place.store.records.values()]).toEqual(all);
  });

  it('skips a line that the end of the process cut short, and settles the others', async () => {
    place.store.away = true;
    const journal = await place.start();
    const kept = many(3);
    for (const generation of kept) journal.append(generation);
    await endOfTurn();
    const killed = place.afterKill();
    appendFileSync(join(killed, place.segments(killed)[0]!), recordBytes('final', aGeneration()).subarray(0, 100));
    place.store.away = false;
    await place.start({ dir: killed });
    expect([...place.store.records.keys()].sort()).toEqual(kept.map(({ id }) => id).sort());
    expect(existsSync(join(killed, 'set-aside.log'))).toBe(false);
    expect(place.segments(killed)).toHaveLength(1);
  });

  it('sets aside a line that is no record', async () => {
    const generation = aGeneration();
    mkdirSync(place.dir);
    writeFileSync(join(place.dir, '000000000009.2.log'), `garbage\n${journalLine(generation)}\n`);
    await place.start();
    expect([...place.store.records.keys()]).toEqual([generation.id]);
    expect(readFileSync(join(place.dir, 'set-aside.log'), 'utf8')).toContain('"record":"garbage"');
  });

  it('sets a refused record aside and settles all the others', async () => {
    const journal = await place.start({ batchRecords: 100, flushMs: 60_000 });
    const all = many(350);
    const bad = [all[0]!, all[137]!, all[138]!, all[349]!];
    place.store.refuse = (generation) => bad.some(({ id }) => id === generation.id);
    for (const generation of all) journal.append(generation);
    expect(await journal.settled(5000)).toBe(true);
    expect(place.store.records.size).toBe(346);
    const aside = readFileSync(join(place.dir, 'set-aside.log'), 'utf8').trim().split('\n');
    expect(aside.map((line) => JSON.parse(line).record.split('\t', 1)[0])).toEqual(bad.map(({ id }) => id));
    place.store.largestBatch = 0;
    for (const generation of many(100)) journal.append(generation);
    await journal.settled(5000);
    expect(place.store.largestBatch).toBe(100);
  });

  it('keeps everything while the store is away and settles it when it is back', async () => {
    const journal = await place.start({ flushMs: 5 });
    place.store.away = true;
    const all = many(50);
    for (const generation of all) journal.append(generation);
    expect(await journal.settled(50)).toBe(false);
    expect(journal.depth).toBe(50);
    place.store.away = false;
    expect(await journal.settled(5000)).toBe(true);
    expect(place.store.records.size).toBe(50);
  });

  it('does not let a key without records wait for those of other keys, but for those of an earlier process', async () => {
    const journal = await place.start();
    place.store.away = true;
    journal.append(aGeneration({ keyId: 'key-busy' }));
    expect(await journal.settled(50, 'key-new')).toBe(true);
    expect(await journal.settled(50, 'key-busy')).toBe(false);
    const reopened = await place.start({ dir: place.afterKill() });
    expect(await reopened.settled(50, 'key-new')).toBe(false);
    place.store.away = false;
    expect(await reopened.settled(5000, 'key-new')).toBe(true);
  });

  it('opens while the store is away, and settles the rest of an earlier process afterwards', async () => {
    place.store.away = true;
    const journal = await place.start();
    for (const generation of many(7)) journal.append(generation);
    await endOfTurn();
    const reopened = await place.start({ dir: place.afterKill() });
    expect(await reopened.settled(50)).toBe(false);
    reopened.append(aGeneration());
    place.store.away = false;
    expect(await reopened.settled(5000)).toBe(true);
    expect(place.store.records.size).toBe(8);
  });

  it('holds a bounded part of the records in memory, and reads the others from its files again', async () => {
    place.store.away = true;
    const journal = await place.start({ memoryBytes: 5000, batchRecords: 8, segmentBytes: 4096 });
    const read = vi.spyOn(Tail.prototype, 'read');
    const all = many(200);
    for (const [i, generation] of all.entries()) {
      journal.append(generation);
      if (i % 4 === 3) await endOfTurn();
    }
    expect(journal.depth).toBe(200);
    expect(place.segments().length).toBeGreaterThan(5);
    place.store.away = false;
    const settled = journal.settled(5000);
    const late = many(3);
    for (const generation of late) journal.append(generation);
    expect(await settled).toBe(true);
    expect(await journal.settled(5000)).toBe(true);
    expect(read.mock.calls.length).toBeGreaterThan(10);
    read.mockRestore();
    // In the order of appending: no record is missing, taken twice or overtaken.
    expect([...place.store.records.keys()]).toEqual([...all, ...late].map(({ id }) => id));
    expect(journal.depth).toBe(0);
    expect(place.segments()).toHaveLength(1);
  });

  it('rotates its files and deletes those that are settled; nothing is left after a clean close', async () => {
    const journal = await place.start({ segmentBytes: 10_000, flushMs: 60_000 });
    for (const generation of many(100)) {
      journal.append(generation);
      await endOfTurn();
    }
    expect(place.segments().length).toBeGreaterThan(3);
    await journal.settled(5000);
    expect(place.segments()).toHaveLength(1);
    await place.close(journal);
    expect(readdirSync(place.dir)).toEqual([]);
  });

  it('is not opened over files that another version left: their settlements would be lost', async () => {
    mkdirSync(place.dir);
    writeFileSync(join(place.dir, '000000000003.1.log'), 'something\n');
    await expect(place.start()).rejects.toThrow('another version');
  });

  it('settles the lines of a version that did not keep bills beside those of this one', async () => {
    const [older, newer] = [aGeneration(), aGeneration()];
    const line = lineText(settlementRow(older)).split('\t').slice(0, 27).join('\t');
    mkdirSync(place.dir);
    writeFileSync(join(place.dir, '000000000001.3.log'), `${line}\n`);
    writeFileSync(join(place.dir, '000000000002.4.log'), `${lineText(settlementRow(newer))}\n`);
    await place.start();
    expect([...place.store.records.values()]).toEqual([{ ...older, bill: null }, newer]);
  });

  it('is refused to a second process', async () => {
    await place.start();
    await expect(place.start()).rejects.toThrow(`pid ${process.pid}`);
  });

  it('bills once when the process dies between settling and deleting its file', async () => {
    const database = await freshDatabase();
    const real = await openStore({ connection: database.connection, logger: silentLogger });
    await real.accounts.create({
      id: 'account-1',
      email: 'a@example.com',
      name: null,
      billingCountry: null,
      createdAt: 0,
    });
    let killed = '';
    const settle = async (rows: readonly SettlementRow[]): Promise<void> => {
      await real.ledger.settle(rows);
      killed = place.afterKill();
    };
    const journal = await place.start({ settle });
    for (let i = 0; i < 20; i++) journal.append(aGeneration({ costPico: 3n }));
    await journal.settled(5000);
    expect(place.idsInFiles(killed)).toHaveLength(20);
    await place.start({ dir: killed, settle: real.ledger.settle });
    expect(await real.accounts.find('account-1')).toMatchObject({ balancePico: -60n, usagePico: 60n });
    await real.close();
    await database.drop();
  });

  it('loses nothing whose answer was sent before a kill -9', async () => {
    const code = compiled('journal/journal', 'base/logger');
    writeFileSync(
      join(code, 'child.mjs'),
      `import { openJournal } from './journal/journal.js';
       import { silentLogger } from './base/logger.js';
       import { writeSync } from 'node:fs';
       const attachment = { hurry() {}, end() {}, detach() {} };
       const settler = { attach: () => attachment, replayed: async () => false, awaySince: 0 };
       const journal = await openJournal({ dir: process.argv[2], settler, logger: silentLogger });
       const generation = JSON.parse(process.argv[3]);
       for (let i = 0; ; i++) {
         const record = { ...generation, id: 'gen-' + String(i).padStart(26, '0'), costPico: 1n };
         journal.append(record, () => writeSync(1, i + '\\n'));
         if (i % 100 === 0) await new Promise(setImmediate);
       }`,
    );
    const { costPico: _, ...generation } = aGeneration({ bill: null });
    const child = spawn(process.execPath, [join(code, 'child.mjs'), place.dir, JSON.stringify(generation)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.length > 20_000) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const acknowledged = said.trimEnd().split('\n').length;
    expect(acknowledged).toBeGreaterThan(1000);
    await place.start();
    // A start waits for five seconds at most.
    await expect.poll(() => place.store.records.size).toBeGreaterThanOrEqual(acknowledged - 1);
    rmSync(code, { recursive: true, force: true });
  });
});
