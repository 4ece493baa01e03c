import { describe, expect, it } from 'vitest';
import { prometheusText } from './prometheus-text.js';

describe('the Prometheus text format', () => {
  it('is help, type and one line a sample', () => {
    const samples = [{ labels: { route: 'a/b/c/d', kind: 'x' }, value: 0.25 }, { value: 3 }];
    expect(prometheusText([{ name: 'one', help: 'The first.', type: 'gauge', samples }])).toBe(
      '# HELP one The first.\n# TYPE one gauge\none{route="a/b/c/d",kind="x"} 0.25\none 3\n',
    );
  });

  it('escapes backslash, quote and newline, so that no label can end its line', () => {
    const samples = [{ labels: { route: 'a"\\\nb' }, value: 1 }];
    expect(prometheusText([{ name: 'one', help: 'a\\b\nc "d"', type: 'counter', samples }])).toBe(
      '# HELP one a\\\\b\\nc "d"\n# TYPE one counter\none{route="a\\"\\\\\\nb"} 1\n',
    );
  });

  it('writes what is no finite number by its own names', () => {
    const samples = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map((value) => ({ value }));
    expect(prometheusText([{ name: 'one', help: '', type: 'gauge', samples }])).toContain(
      'one +Inf\none -Inf\none NaN\n',
    );
  });

  it('leaves out a family without samples', () => {
    expect(prometheusText([{ name: 'one', help: '', type: 'gauge', samples: [] }])).toBe('');
  });
});
