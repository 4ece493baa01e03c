import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isModelName } from './model-name.js';
import { readNameFiles } from './names-file.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-names-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fileOf = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('readNameFiles', () => {
  it('names of later files win', async () => {
    const one = fileOf('one.yaml', 'names: { a: { model: auto/x/one }, b: { model: auto/x/b } }');
    const two = fileOf('two.yaml', 'names: { a: { model: auto/x/two, note: n } }');
    const { names, faults } = await readNameFiles([one, two]);
    expect(faults()).toEqual([]);
    expect([...names.values()].map(({ name, file }) => [name.name, name.target, file])).toEqual([
      ['a', 'auto/x/two', two],
      ['b', 'auto/x/b', one],
    ]);
  });

  it.each([
    ['names: []', /:1:\d+: names: found a list, expected a mapping of names/],
    ['- a', /:1:\d+: file: found a list, expected a mapping of names/],
    ['names:\n  a b: { model: auto/x/y }', /:2:\d+: names\.a b: found the name "a b", expected 1 to 200/],
    ['names:\n  a:\n    model: 5', /:3:\d+: names\.a\.model: found 5, expected a pin or an auto\/ id/],
    ['names:\n  a:\n    note: x', /names\.a\.model: found nothing, expected a pin/],
    ['names:\n  a:\n    model: auto/x/y\n    colour: red', /:4:\d+: names\.a\.colour: unknown field/],
    ['names:\n  a:\n    model: auto/x/y\n    fallback: { models: x }', /:4:\d+: names\.a\.fallback\.models: found "x"/],
    ['names: {}\nmodels: []', /:2:\d+: models: unknown field/],
    ['names: {', /YAML/],
  ])('a fault has its file and line: %j', async (text, fault) => {
    const file = fileOf('faulty.yaml', text);
    const { faults } = await readNameFiles([file]);
    expect(faults()).toHaveLength(1);
    expect(faults()[0]).toMatch(fault);
    expect(faults()[0]).toContain(file);
  });

  it('a file that is gone is a fault', async () => {
    expect((await readNameFiles([join(folder, 'gone.yaml')])).faults()[0]).toMatch(
      /gone\.yaml:1:1: file: cannot be read/,
    );
  });
});

describe('isModelName', () => {
  it.each(['a', 'a/b', 'a:b', '/', 'a/', 'auto', 'automatic/x', '!', '~'.repeat(200)])('takes %j', (text) => {
    expect(isModelName(text)).toBe(true);
  });
  it.each(['', ' ', 'a b', 'a/b/c', '//', 'auto/', 'alias/x', 'ä', '\u007f', 'a\n', '~'.repeat(201)])(
    'refuses %j',
    (text) => {
      expect(isModelName(text)).toBe(false);
    },
  );
});
