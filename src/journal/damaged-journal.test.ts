/** Journals of which every tenth record is damaged: the others are settled once, and each damaged one is reported. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { scaled } from '../../tests/support/scaled.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import { rowId } from '../domain/settlement-row.js';
import { recordBytes } from './record.js';
import { segmentName } from './segment-names.js';
import { Settler } from './settler.js';

const run = '00000000000000aa';
const pageBytes = 4_096;
const recordCount = 150;
const perSegment = 60;

interface Place {
  readonly start: number;
  readonly end: number;
}

interface Damaged {
  readonly bytes: Buffer;
  /** Where the records stand now that are whole no more. */
  readonly places: Place[];
  readonly lost: ReadonlySet<string>;
}

interface Written extends Place {
  readonly id: string;
}

/** One segment: every tenth record has a flipped bit, lacks some bytes, or a page of zeros lies on it. */
function damage(whole: Buffer, records: readonly Written[], random: SeededRandom): Damaged {
  let bytes = Buffer.from(whole);
  const hit = new Set<Written>();
  const cuts: Place[] = [];
  for (const record of records.filter(() => random.chance(0.1))) {
    const at = record.start + random.below(record.end - record.start);
    const kind = random.below(3);
    hit.add(record);
    if (kind === 0) bytes[at]! ^= 1 << random.below(8);
    else if (kind === 1)
      cuts.push({ start: Math.max(at, record.start + 1), end: Math.min(at + 1 + random.below(300), record.end) });
    else {
      const page = at - (at % pageBytes);
      bytes.fill(0, page, Math.min(page + pageBytes, bytes.length));
      for (const other of records) if (other.start < page + pageBytes && other.end > page) hit.add(other);
    }
  }
  const places = [...hit].map(({ start, end }) => ({ start: moved(start, cuts), end: moved(end, cuts) }));
  for (const { start, end } of cuts.sort((a, b) => b.start - a.start))
    bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  return { bytes, places, lost: new Set([...hit].map(({ id }) => id)) };
}

function moved(at: number, cuts: readonly Place[]): number {
  return cuts.reduce((place, { start, end }) => place - Math.max(0, Math.min(at, end) - start), at);
}

it('every undamaged record is settled once, and every damaged one is reported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-damaged-'));
  const sizes = new SeededRandom(1);
  const all = Array.from({ length: recordCount }, () => aGeneration({ keyName: 'k'.repeat(1 + sizes.below(600)) }));
  const records = all.map((generation) => ({ id: generation.id, bytes: recordBytes('final', generation) }));
  for (let round = 0; round < scaled(20, 1_000); round++) {
    const random = new SeededRandom(round);
    const dir = join(folder, `journal-${round}`);
    mkdirSync(dir);
    const expected: Place[] = [];
    const lost = new Set<string>();
    let base = 0;
    for (let first = 0, number = 1; first < recordCount; first += perSegment, number++) {
      let size = 0;
      const written = records.slice(first, first + perSegment).map(({ id, bytes }) => {
        size += bytes.length;
        return { id, start: size - bytes.length, end: size };
      });
      // The last record stays: zeros behind it would be space that was only allocated.
      const isLast = first + perSegment >= recordCount;
      const whole = Buffer.concat(records.slice(first, first + perSegment).map(({ bytes }) => bytes));
      const damaged = isLast ? { bytes: whole, places: [], lost: new Set<string>() } : damage(whole, written, random);
      writeFileSync(
        join(dir, segmentName(number, run, base)),
        Buffer.concat([damaged.bytes, Buffer.alloc(isLast ? 9_000 : 0)]),
      );
      expected.push(...damaged.places.map(({ start, end }) => ({ start: base + start, end: base + end })));
      for (const id of damaged.lost) lost.add(id);
      base += whole.length;
    }
    const settled: string[] = [];
    const reported: Place[] = [];
    const settler = new Settler({
      dirs: () => [dir],
      settle: async (rows) => void settled.push(...rows.map(rowId)),
      offsets: { find: async () => null, remove: async () => {} },
      clock: systemClock,
      logger: {
        ...silentLogger,
        error: (fields) => {
          const { position, bytes } = fields as { position: number; bytes: number };
          reported.push({ start: position, end: position + bytes });
        },
      },
      batchRecords: 1 + random.below(40),
    });
    expect(await settler.replayed(20_000)).toBe(true);
    await settler.stop();
    expect(settled).toEqual(records.map(({ id }) => id).filter((id) => !lost.has(id)));
    const silent = expected.filter(
      ({ start, end }) => !reported.some((place) => place.start <= start && place.end >= end),
    );
    expect(silent, `round ${round}`).toEqual([]);
    expect(settler.untold.damaged).toBe(reported.length);
  }
  rmSync(folder, { recursive: true });
}, 900_000);
