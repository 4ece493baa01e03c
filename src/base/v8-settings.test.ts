import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compiled } from '../../tests/support/compiled.js';

const settings = join(compiled('base/v8-settings'), 'base', 'v8-settings.js');

/** In a process of its own, because a setting that V8 does not expect so late ends it with SIGSEGV. */
it('patterns that were used before the settings go on working', () => {
  const program = `
    const patterns = Array.from({ length: 50 }, (_, i) => new RegExp('a(b|c' + i + ')+d', 'g'));
    for (const pattern of patterns) pattern.exec('abcd');
    const all = await import(${JSON.stringify(settings)});
    for (const set of Object.values(all)) set();
    const found = patterns.map((pattern) => 'abd abbd x'.replace(pattern, 'y') + 'abd'.split(pattern).length);
    console.log(Object.keys(all).length, new Set(found).size, found[0]);`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect([run.signal, run.stderr, run.stdout]).toEqual([null, '', '7 1 y y x3\n']);
});

describe('the methods of strings', () => {
  const areFast = (first: string, then: string): string => {
    const program = `
      const { keepStringMethodsFast } = await import(${JSON.stringify(settings)});
      const areFast = () => %HasFastProperties(String.prototype);
      const extend = () => class extends String {};
      const keep = keepStringMethodsFast;
      ${first}();
      const before = areFast();
      ${then}();
      console.log(before, areFast());`;
    const args = ['--allow-natives-syntax', '--input-type=module', '-e', program];
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
  };

  it('are slow after a class that extends String, until they are made fast', () =>
    expect(areFast('extend', 'keep')).toBe('false true\n'));

  it('stay fast when they were before', () => expect(areFast('keep', 'extend')).toBe('true true\n'));
});
