import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { leftOut, slowUnits, smoke } from '../fast.mjs';
import { slowFiles } from './slow-files.js';

const root = resolve(import.meta.dirname, '../..');
const units = readdirSync(resolve(root, 'src'), { recursive: true }).map((path) => `src/${String(path)}`);

it.each(slowUnits)('the fast run leaves out what there is: %s', (pattern) => {
  const found = new RegExp(
    `^${pattern
      .replaceAll('.', '\\.')
      .replaceAll('**/', '(?:.+/)?')
      .replaceAll(/(?<!\.)\*/g, '[^/]*')}$`,
  );
  expect(units.filter((path) => found.test(path))).not.toEqual([]);
});

it.each(smoke)('the fast run has what there is: %s', (path) => {
  expect(existsSync(resolve(root, path))).toBe(true);
});

it('the fast run says which units it leaves out', () => {
  for (const pattern of slowUnits) expect(leftOut.join()).toContain(pattern);
});

it.each(slowFiles)('the file that starts early is there: %s', (path) => {
  expect(existsSync(resolve(root, path))).toBe(true);
});
