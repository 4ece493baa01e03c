/**
 * The names of the journal's files. The form of the content is a part of the name and is raised with every change, so that nothing is
 * misread. Form 5 names the process run that wrote it and the position of its first byte, so that damage to the content cannot hide them.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A file that is not a segment yet. */
export const spareName = 'spare';

const binaryForm = /^(\d{12})\.5\.([0-9a-f]{16})\.(\d+)\.log$/;
/** Lines of text: form 2 has no zeros and no provisional lines, form 3 no bills, so all are read like form 4. */
const lineForm = /^\d{12}\.[234]\.log$/;

export interface BinarySegment {
  readonly file: string;
  readonly number: number;
  readonly run: string;
  readonly base: number;
}

export function segmentName(number: number, run: string, base: number): string {
  return `${String(number).padStart(12, '0')}.5.${run}.${base}.log`;
}

const isSegment = (name: string): boolean => /^\d{12}\./.test(name);

export const segmentNumber = (name: string): number => Number.parseInt(name, 10);

/** null where it has another form. */
export function binarySegment(dir: string, name: string): BinarySegment | null {
  const [, number, run, base] = binaryForm.exec(name) ?? [];
  return run === undefined ? null : { file: join(dir, name), number: Number(number), run, base: Number(base) };
}

export const holdsLines = (name: string): boolean => lineForm.test(name);

/** Oldest first. Throws where another version left one: it contains settlements that nobody else will make, so it is not skipped. */
export function segmentsIn(dir: string): string[] {
  const names = existsSync(dir) ? readdirSync(dir).filter(isSegment).sort() : [];
  const foreign = names.find((name) => !binaryForm.test(name) && !lineForm.test(name));
  if (foreign === undefined) return names;
  throw new Error(
    `${join(dir, foreign)} was left by another version of Lodestone. Start that version once more, so that it settles it.`,
  );
}
