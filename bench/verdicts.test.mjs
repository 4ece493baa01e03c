import { describe, expect, it } from 'vitest';
import { originText, replaceBetweenMarkers } from './docs-tables.mjs';
import { allocatedKb } from './garbage.mjs';
import { rows } from './rows.mjs';
import { alignedTable, figureText, markdownTable, rowCells, verdictOf } from './verdicts.mjs';

describe('a verdict', () => {
  const most = { must: 2, aim: 1 };
  it('is met at the bound', () => expect(verdictOf(most, 2)).toBe('met'));
  it('says when the aim is reached too', () => expect(verdictOf(most, 1)).toBe('met, aim too'));
  it('is missed above the bound', () => expect(verdictOf(most, 2.01)).toBe('MISSED'));
  it('turns around where more is better', () => {
    expect(verdictOf({ must: 1.8, atLeast: true }, 1.9)).toBe('met');
    expect(verdictOf({ must: 1.8, atLeast: true }, 1.7)).toBe('MISSED');
  });
  it('does not judge what was not measured', () => expect(verdictOf(most, Number.NaN)).toBe('not measured'));
});

it('a figure shows about three digits', () => {
  expect([0.567, 12.34, 123.4, 12_345, Number.NaN].map(figureText)).toEqual(['0.57', '12.3', '123', '12,345', '–']);
});

it('a row that was left out says why, and has no verdict', () => {
  const cells = rowCells({ what: 'fleet', unit: '×', must: 1 }, { leftOut: 'no Redis' });
  expect(cells).toEqual(['fleet', 'left out: no Redis', '', '≤ 1', '', '']);
});

it('tables are aligned for a terminal and plain for a page', () => {
  expect(alignedTable(['a', 'bb'], [['ccc', 'd']])).toBe('a    bb\nccc  d');
  expect(markdownTable(['a', 'b'], [['c', 'd']])).toBe('| a | b |\n|---|---|\n| c | d |');
});

describe('text between markers', () => {
  const page = 'before <!-- bench:x --> old <!-- /bench:x --> after';
  it('is replaced, and nothing else', () => {
    expect(replaceBetweenMarkers(page, 'x', 'new')).toBe('before <!-- bench:x -->\n\nnew\n\n<!-- /bench:x --> after');
  });
  it('needs its markers', () => expect(() => replaceBetweenMarkers(page, 'y', 'new')).toThrow('no pair of markers'));
});

describe('the origin of figures', () => {
  const entry = { at: '2026-01-02T03:04:05Z', commit: 'abc', node: 'v20.1.0', cpu: 'a CPU', cores: 2 };
  it('names the command, the day, the commit and the machine once', () => {
    const text = originText('npm run bench', { one: entry, two: entry });
    expect(text).toBe('Measured with `npm run bench` on 2026-01-02, commit abc, 2 cores (a CPU), Node 20.1.0.');
  });
  it('says so when the machine was not quiet', () => {
    expect(originText('x', [{ ...entry, disturbed: 3 }])).toContain('disturbed 3 of the measurements');
  });
});

describe('the rows', () => {
  it('have names of their own, a description, a unit, a bound and a measurement', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const { what, unit, must, measure } of rows) {
      expect(what).toBeTruthy();
      expect(['×', 'ms', 'µs', 's', 'KB', 'MB']).toContain(unit);
      expect(must).toBeGreaterThan(0);
      expect(measure).toBeTypeOf('function');
    }
  });

  it('aim at more than they must reach', () => {
    for (const { must, aim, atLeast } of rows.filter((row) => row.aim !== undefined))
      expect(atLeast ? aim >= must : aim <= must).toBe(true);
  });
});

it('garbage is what was allocated between collections of one process', () => {
  const lines = [
    '[7:0x1] 10 ms: Scavenge 9.0 (20.0) -> 4.0 (20.0) MB, 1.0 / 0.0 ms',
    '[8:0x1] 11 ms: Scavenge 90.0 (99.0) -> 40.0 (99.0) MB, 1.0 / 0.0 ms',
    '[7:0x1] 12 ms: Scavenge (interleaved) 8.0 (20.0) -> 4.5 (20.0) MB, 1.0 / 0.0 ms',
    '[7:0x1] 13 ms: Mark-Compact 6.0 (20.0) -> 3.0 (20.0) MB, 1.0 / 0.0 ms',
  ];
  expect(allocatedKb(`${lines.join('\n')}\n`, 7)).toBe(5.5 * 1024);
});
