import fs, { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FailingDisk, type WriteFault } from '../../tests/support/failing-disk.js';
import { aGeneration } from '../../tests/support/generation.js';
import { endOfTurn, JournalPlace, many } from '../../tests/support/journal-place.js';
import type { Generation } from '../domain/generation.js';

const stepBytes = 16 * 1024;
const recordBytes = 2 * 1024;

let place: JournalPlace;
let disk: FailingDisk;
beforeEach(() => {
  place = new JournalPlace();
  disk = new FailingDisk();
});
afterEach(() => place.remove());

const start = (options = {}) => place.start({ files: disk.files, stepBytes, probeMs: 5, flushMs: 60_000, ...options });
const ids = (records: Iterable<Generation>) => [...records].map(({ id }) => id).sort();

describe('a disk that is full', () => {
  it('refuses reservations, takes the records of the requests that have one, and is used again when it has space', async () => {
    place.store.away = true;
    const journal = await start();
    const inFlight = many(5);
    for (const _ of inFlight) expect(journal.reserve(recordBytes)).toBe(true);
    disk.full = true;
    let admitted = 0;
    while (journal.reserve(recordBytes)) admitted++;
    expect(admitted).toBeLessThan(stepBytes / recordBytes);
    expect(journal.fault).toBe('ENOSPC: no space left on device');
    for (const generation of inFlight) journal.append(generation);
    await endOfTurn();
    expect(place.idsInFiles()).toEqual(inFlight.map(({ id }) => id));
    disk.full = false;
    await expect.poll(() => journal.fault).toBeNull();
    expect(journal.reserve(recordBytes)).toBe(true);
  });

  it('does not give reserved room to records that cost nothing', async () => {
    place.store.away = true;
    const journal = await start({ probeMs: 60_000 });
    disk.full = true;
    let reserved = 0;
    while (journal.reserve(recordBytes)) reserved++;
    for (let i = 0; i < 100; i++) journal.append(aGeneration({ costPico: 0n, billed: false }));
    await endOfTurn();
    const billed = many(reserved);
    for (const generation of billed) journal.append(generation);
    await endOfTurn();
    expect(place.idsInFiles()).toEqual(billed.map(({ id }) => id));
  });

  it('is used over and over where the store takes the records', async () => {
    const journal = await start();
    disk.full = true;
    const all: Generation[] = [];
    for (let round = 0; round < 20; round++) {
      await expect.poll(() => journal.reserve(4 * recordBytes)).toBe(true);
      const some = many(8);
      for (const generation of some) journal.append(generation);
      journal.release(4 * recordBytes);
      all.push(...some);
      await endOfTurn();
      expect(place.idsInFiles()).toEqual(expect.arrayContaining(some.map(({ id }) => id)));
      expect(await journal.settled(5_000)).toBe(true);
    }
    expect(ids(place.store.records.values())).toEqual(ids(all));
    expect(statSync(join(place.dir, place.segments()[0]!)).size).toBeLessThanOrEqual(2 * stepBytes);
  });

  it('keeps a refused record in the journal until it can be set aside', async () => {
    const journal = await start({ flushMs: 20 });
    mkdirSync(join(place.dir, 'set-aside.log'));
    const [good, bad] = many(2);
    place.store.refuse = ({ id }) => id === bad!.id;
    journal.append(bad!);
    journal.append(good!);
    await journal.settled(5_000);
    expect(ids(place.store.records.values())).toEqual([good!.id]);
    expect(journal.depth).toBe(1);
    expect(place.idsInFiles(place.afterKill())).toContain(bad!.id);
    rmSync(join(place.dir, 'set-aside.log'), { recursive: true });
    await expect.poll(() => journal.depth).toBe(0);
    expect(readFileSync(join(place.dir, 'set-aside.log'), 'utf8')).toContain(bad!.id);
  });

  it('leaves what is not settled in the file at a close, and names it line by line', async () => {
    place.store.away = true;
    const journal = await start({ closeMs: 20 });
    const all = many(3);
    for (const generation of all) journal.append(generation);
    const provisional = aGeneration({ streamEnd: 'client_closed' });
    journal.appendProvisional(provisional);
    const lines: string[] = [];
    expect(await place.close(journal, (line) => lines.push(line))).toBe(4);
    const named = lines.map((line) => JSON.parse(line).unsettled);
    expect(named.map(({ id }) => id).sort()).toEqual(ids([...all, provisional]));
    expect(named[0]).toMatchObject({ account_id: 'account-1', cost_pico: '1000000007', locode: 'defra' });
    place.store.away = false;
    await place.start();
    expect(ids(place.store.records.values())).toEqual(ids([...all, provisional]));
  });
});

describe('a disk that fails', () => {
  it('that becomes read-only refuses reservations, keeps records in memory and writes them when it can', async () => {
    place.store.away = true;
    const journal = await start();
    disk.readOnly = true;
    await expect.poll(() => journal.fault).toBe('EROFS: read-only file system');
    expect(journal.reserve(recordBytes)).toBe(false);
    const all = many(3);
    let sent = 0;
    for (const generation of all) journal.append(generation, () => sent++);
    await endOfTurn();
    expect([sent, place.idsInFiles()]).toEqual([3, []]);
    disk.readOnly = false;
    await expect.poll(() => place.idsInFiles()).toEqual(all.map(({ id }) => id));
    await expect.poll(() => journal.fault).toBeNull();
  });

  it('that stays read-only until the stop: its records go to the store directly, or are named where that takes none', async () => {
    for (const away of [false, true]) {
      place.store.away = away;
      disk = new FailingDisk();
      const dir = join(place.root, `stopped-${away}`);
      const journal = await start({ dir, closeMs: 20, settleDirectly: place.store.settle });
      disk.readOnly = true;
      const all = many(3);
      for (const generation of all) journal.append(generation);
      const named: string[] = [];
      expect(await place.close(journal, (line) => named.push(JSON.parse(line).unsettled.id))).toBe(away ? 3 : 0);
      expect(named.sort()).toEqual(away ? ids(all) : []);
      for (const { id } of all) expect(place.store.records.has(id)).toBe(!away);
    }
  });

  it('that deletes no files holds up no journal: all are settled, and the files go when they can', async () => {
    place.store.away = true;
    const journal = await start();
    const [left, own] = many(2);
    journal.append(left!);
    await endOfTurn();
    const killed = place.afterKill();
    place.store.away = false;
    const failing = vi.spyOn(fs, 'rmSync').mockImplementation((file) => {
      throw Object.assign(new Error(`EROFS: read-only file system, unlink '${String(file)}'`), { code: 'EROFS' });
    });
    const settler = place.settler({ dirs: () => [killed, place.dir] });
    expect(await settler.replayed(5_000)).toBe(true);
    journal.append(own!);
    await journal.settled(5_000);
    expect(ids(place.store.records.values())).toEqual(ids([left!, own!]));
    expect(place.segments(killed)).toHaveLength(1);
    failing.mockRestore();
    await settler.replayed(5_000);
    await expect.poll(() => place.segments(killed)).toEqual([]);
    await settler.stop();
  });

  const faults: WriteFault[] = ['ENOSPC', 'EROFS', 'EIO', 'short', 'nothing'];
  it.each(faults)(
    'at any one write (%s) has every record once when it works again, also after a kill',
    async (fault) => {
      place.store.away = true;
      for (let write = 0; write < 24; write++) {
        disk = new FailingDisk();
        const dir = join(place.root, `${fault}-${write}`);
        const journal = await start({ dir, segmentBytes: 3_000, probeMs: 60_000 });
        disk.failAt = { write: disk.writes + write, fault };
        const all = many(8);
        for (const generation of all) {
          if (generation !== all[0]) journal.appendProvisional({ ...generation, costPico: 1n });
          journal.append(generation);
          await endOfTurn();
        }
        // A shorter line after one that failed must leave nothing of the longer one.
        journal.append(aGeneration({ id: all[0]!.id, attempts: [] }));
        await endOfTurn();
        place.store.away = false;
        place.store.records.clear();
        await place.close(journal);
        const reopened = await place.start({ dir });
        expect([ids(place.store.records.values()), reopened.depth]).toEqual([ids(all), 0]);
        for (const { costPico } of place.store.records.values()) expect(costPico).toBe(all[1]!.costPico);
        expect(() => statSync(join(dir, 'set-aside.log'))).toThrow('ENOENT');
        place.store.away = true;
      }
    },
  );
});

describe('provisional records', () => {
  it('are in the file when the call returns, and are not settled while their request goes on', async () => {
    const journal = await start();
    const generation = aGeneration({ costPico: 5n });
    journal.appendProvisional(generation);
    expect(readFileSync(join(place.dir, place.segments()[0]!), 'latin1')).toContain(generation.id);
    expect(await journal.settled(50)).toBe(true);
    expect(place.store.records.size).toBe(0);
  });

  it('are settled by the next start, the last of each generation, where no final record was written', async () => {
    const journal = await start({ segmentBytes: 2_000 });
    const [left, ended] = many(2);
    journal.appendProvisional({ ...left!, costPico: 5n });
    journal.appendProvisional({ ...ended!, costPico: 5n });
    for (const generation of many(5)) {
      journal.append(generation);
      await endOfTurn();
    }
    journal.appendProvisional({ ...left!, costPico: 7n });
    journal.append({ ...ended!, costPico: 9n });
    await endOfTurn();
    const killed = place.afterKill();
    await place.start({ dir: killed });
    expect(place.store.records.get(left!.id)?.costPico).toBe(7n);
    expect(place.store.records.get(ended!.id)?.costPico).toBe(9n);
    expect(place.store.records.size).toBe(7);
  });

  it('keep their file until the final record is in one', async () => {
    const journal = await start({ segmentBytes: 1_000 });
    const stream = aGeneration();
    journal.appendProvisional({ ...stream, costPico: 1n });
    for (const generation of many(6)) {
      journal.append(generation);
      await endOfTurn();
    }
    await journal.settled(5_000);
    expect(place.segments().length).toBeGreaterThan(1);
    journal.append(stream);
    await journal.settled(5_000);
    expect(place.segments()).toHaveLength(1);
    expect(place.store.records.get(stream.id)?.costPico).toBe(stream.costPico);
  });

  it('are passed over where records are read from the files again because memory was full', async () => {
    place.store.away = true;
    const journal = await start({ memoryBytes: 2_000 });
    const all = many(40);
    for (const generation of all) {
      journal.appendProvisional({ ...generation, costPico: 1n });
      journal.append(generation);
      await endOfTurn();
    }
    place.store.away = false;
    expect(await journal.settled(5_000)).toBe(true);
    expect([...place.store.records.values()]).toEqual(all);
  });
});
