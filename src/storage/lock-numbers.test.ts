import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockNumbers } from './lock-numbers.js';

const folder = import.meta.dirname;
const sources = (readdirSync(folder, { recursive: true }) as string[])
  .filter((path) => path.endsWith('.ts') && !/lock-numbers/.test(path))
  .map((path) => ({ path, numbers: numbersIn(readFileSync(join(folder, path), 'utf8')) }));

function numbersIn(text: string): number[] {
  return [...text.matchAll(/\b7_?316_?402_?\d{3}\b/g)].map(([digits]) => Number(digits.replaceAll('_', '')));
}

it('gives each purpose a lock of its own, so that none waits for another', () => {
  const numbers: number[] = Object.values(lockNumbers);
  expect(new Set(numbers).size).toBe(numbers.length);
});

it('shares no lock with a migration, but for one that a later migration replaced', () => {
  const inMigrations = new Set(sources.flatMap(({ numbers }) => numbers));
  expect(Object.values(lockNumbers).filter((number) => inMigrations.has(number))).toEqual([lockNumbers.presence]);
});

it('is the only place that names a lock, but for migrations, which never change', () => {
  const naming = sources.filter(({ numbers }) => numbers.length > 0).map(({ path }) => path);
  expect(naming.sort()).toEqual(
    ['0011-late-rows.ts', '0021-late-rows-lock.ts', '0022-usage-sums.ts'].map((name) => join('migrations', name)),
  );
});
