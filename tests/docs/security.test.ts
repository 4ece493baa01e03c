import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/guide/security.md', 'utf8');
const rows = page.split('\n').filter((line) => /^\| \d+ \|/.test(line));

interface Reference {
  file: string;
  title: string | undefined;
}

/** `file` and, where it has one, the "title" behind it. Of a suite that several files could run, the file that has its tests. */
function referencesOf(text: string): Reference[] {
  return [...text.matchAll(/`([\w./-]+(?:\.test|-suite)\.ts)`(?: "([^"]+)")?/g)].map(([, file, title]) => ({
    file: file!,
    title,
  }));
}

/** What a reference names and the repository does not have. */
function faultOf({ file, title }: Reference): string | null {
  if (!existsSync(file)) return `${file} does not exist`;
  if (title !== undefined && !readFileSync(file, 'utf8').includes(title)) return `${file} has no test "${title}"`;
  return null;
}

describe('docs/guide/security.md', () => {
  it('has 70 checks, numbered in order', () => {
    expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: 70 }, (_, index) => index + 1));
  });

  it('names a test for every check, and each of them exists', () => {
    for (const row of rows) {
      const references = referencesOf(row);
      expect([row, references.length > 0]).toEqual([row, true]);
      expect(references.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
    }
  });

  it('would name a file or a title that is gone', () => {
    expect(faultOf({ file: 'tests/docs/gone.test.ts', title: 'any' })).toBe('tests/docs/gone.test.ts does not exist');
    expect(faultOf({ file: 'tests/docs/errors.test.ts', title: 'of pages' })).toContain('has no test "of pages"');
  });
});
