import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FailingDisk } from '../../tests/support/failing-disk.js';
import { aGeneration } from '../../tests/support/generation.js';
import { endOfTurn, JournalPlace, many } from '../../tests/support/journal-place.js';
import type { SettlementRow } from '../domain/settlement-row.js';
import { Segments } from './journal-segments.js';

describe('group commit', () => {
  let place: JournalPlace;
  beforeEach(() => {
    place = new JournalPlace();
  });
  afterEach(() => place.remove());

  it('has a record in its file before the last bytes of its answer go, in the order of appending', async () => {
    place.store.away = true;
    const journal = await place.start();
    const all = many(5);
    const sent: string[] = [];
    for (const generation of all) {
      journal.append(generation, () => {
        expect(place.idsInFiles()).toContain(generation.id);
        sent.push(generation.id);
      });
      // No answer may leave before the file has its record.
      expect(sent).toEqual([]);
    }
    await endOfTurn();
    expect(sent).toEqual(all.map(({ id }) => id));
    expect(place.idsInFiles()).toEqual(sent);
  });

  it('writes the records of one turn by one write', async () => {
    const append = vi.spyOn(Segments.prototype, 'append');
    const journal = await place.start({ flushMs: 60_000 });
    let sent = 0;
    for (const generation of many(1000)) journal.append(generation, () => sent++);
    await endOfTurn();
    expect([append.mock.calls.length, sent]).toEqual([1, 1000]);
    expect(place.idsInFiles()).toHaveLength(1000);
    journal.append(aGeneration());
    await endOfTurn();
    expect(append).toHaveBeenCalledTimes(2);
    append.mockRestore();
  });

  it('sends the other answers where one fails, and those that are appended meanwhile', async () => {
    const journal = await place.start({ flushMs: 60_000 });
    const sent: string[] = [];
    journal.append(aGeneration(), () => {
      throw new Error('the socket is gone');
    });
    journal.append(aGeneration(), () => {
      sent.push('second');
      journal.append(aGeneration(), () => sent.push('third'));
    });
    await endOfTurn();
    expect(sent[0]).toBe('second');
    await expect.poll(() => sent).toEqual(['second', 'third']);
    expect(place.idsInFiles()).toHaveLength(3);
  });

  it('writes at once what was collected when somebody waits for it or it is closed', async () => {
    const journal = await place.start({ flushMs: 60_000 });
    const sent: number[] = [];
    journal.append(aGeneration(), () => sent.push(1));
    const settled = journal.settled(5000);
    expect(sent).toEqual([1]);
    expect(await settled).toBe(true);
    journal.append(aGeneration(), () => sent.push(2));
    const closed = place.close(journal);
    expect(sent).toEqual([1, 2]);
    await closed;
    expect(place.store.records.size).toBe(2);
  });

  it('keeps a record in memory when the disk does not take it, answers, and settles it all the same', async () => {
    const disk = new FailingDisk();
    const journal = await place.start({ files: disk.files, flushMs: 60_000 });
    journal.append(aGeneration());
    await endOfTurn();
    disk.readOnly = true;
    let sent = 0;
    for (const generation of many(2)) journal.append(generation, () => sent++);
    await endOfTurn();
    expect([sent, place.idsInFiles().length]).toEqual([2, 1]);
    disk.readOnly = false;
    journal.append(aGeneration());
    expect(await journal.settled(5000)).toBe(true);
    expect(place.store.records.size).toBe(4);
  });

  it('leaves no part of a record that cannot be written as a line', async () => {
    const journal = await place.start({ flushMs: 60_000 });
    const [first, last] = many(2);
    journal.append(first!);
    expect(() => journal.append(aGeneration({ attempts: [{ status: 1n } as never] }))).toThrow(TypeError);
    journal.append(last!);
    await endOfTurn();
    expect(place.idsInFiles()).toEqual([first!.id, last!.id]);
    expect(await journal.settled(5000)).toBe(true);
    expect([...place.store.records.values()]).toEqual([first, last]);
  });

  it('lets the turn end where records come in while a batch is settled', async () => {
    const late = many(10);
    const settle = async (rows: readonly SettlementRow[]) => {
      for (const generation of late.splice(0)) journal.append(generation);
      await place.store.settle(rows);
    };
    const journal = await place.start({ settle, batchRecords: 4, flushMs: 5 });
    for (const generation of many(4)) journal.append(generation);
    await expect.poll(() => place.store.records.size).toBe(14);
    expect(await journal.settled(5000)).toBe(true);
    expect(place.store.records.size).toBe(14);
  });
});
