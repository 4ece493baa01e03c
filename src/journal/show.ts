/** Prints the files of a journal for people. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Generation } from '../domain/generation.js';
import { recordText, settlementRow } from '../domain/settlement-row.js';
import { scanFrames } from './frames.js';
import { kindIn, readRecord } from './record.js';
import { binarySegment, holdsLines } from './segment-names.js';

interface ShownLine {
  readonly line: string;
  readonly isDamaged: boolean;
}

/** One line for each record and each damaged place of a file, or of the files of a folder. */
export function* journalLines(place: string): Generator<ShownLine> {
  if (!statSync(place).isDirectory()) return yield* fileLines(place);
  const names = readdirSync(place).sort();
  for (const name of names) if (binarySegment(place, name) || holdsLines(name)) yield* fileLines(join(place, name));
}

function* fileLines(file: string): Generator<ShownLine> {
  const bytes = readFileSync(file);
  const name = basename(file);
  if (holdsLines(name)) {
    const lines = bytes.toString('utf8').split('\u0000', 1)[0]!.split('\n').slice(0, -1);
    for (const line of lines) yield { line: JSON.stringify({ file: name, line }), isDamaged: false };
    return;
  }
  const found: ShownLine[] = [];
  scanFrames(bytes, true, {
    take(start, end) {
      const kind = kindIn(bytes, start);
      if (kind === undefined) return this.damaged(start, end);
      if (kind !== 'void') found.push(shown(name, start, kind, readRecord(bytes, start, end)));
      return true;
    },
    damaged(start, end) {
      found.push({ line: JSON.stringify({ file: name, at: start, damaged: end - start }), isDamaged: true });
      return true;
    },
  });
  yield* found;
}

function shown(file: string, at: number, kind: string, generation: Generation): ShownLine {
  const { unsettled: record } = JSON.parse(recordText(settlementRow(generation)));
  return { line: JSON.stringify({ file, at, kind, record }), isDamaged: false };
}
