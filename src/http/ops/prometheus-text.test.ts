import { describe, expect, it } from 'vitest';
import { prometheusText } from './prometheus-text.js';

const gauge = { name: 'one', help: '', type: 'gauge', labels: [] } as const;

describe('the Prometheus text format', () => {
  it('is help, type and one line a sample', () => {
    const samples = [
      { labels: ['a/b/c/d', 'x'], value: 0.25 },
      { labels: ['e', 'y'], value: 3 },
    ];
    expect(prometheusText([{ ...gauge, help: 'The first.', labels: ['route', 'kind'], samples }])).toBe(
      '# HELP one The first.\n# TYPE one gauge\none{route="a/b/c/d",kind="x"} 0.25\none{route="e",kind="y"} 3\n',
    );
  });

  it('writes a histogram as cumulative buckets, the last one without a bound, sum and count', () => {
    const samples = [{ labels: ['true'], value: 7.5, counts: [2, 0, 3] }];
    const family = { ...gauge, type: 'histogram', labels: ['stream'], bounds: [0.1, 2.5], samples } as const;
    expect(prometheusText([family])).toBe(
      '# HELP one \n# TYPE one histogram\none_bucket{stream="true",le="0.1"} 2\none_bucket{stream="true",le="2.5"} 2\n' +
        'one_bucket{stream="true",le="+Inf"} 5\none_sum{stream="true"} 7.5\none_count{stream="true"} 5\n',
    );
  });

  it('escapes backslash, quote and newline, so that no label can end its line', () => {
    const samples = [{ labels: ['a"\\\nb'], value: 1 }];
    expect(prometheusText([{ ...gauge, help: 'a\\b\nc "d"', labels: ['route'], samples }])).toBe(
      '# HELP one a\\\\b\\nc "d"\n# TYPE one gauge\none{route="a\\"\\\\\\nb"} 1\n',
    );
  });

  it('writes what is no finite number by its own names', () => {
    const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
    const samples = values.map((value) => ({ labels: [], value }));
    expect(prometheusText([{ ...gauge, samples }])).toContain('one +Inf\none -Inf\none NaN\n');
  });

  it('leaves out a family without samples', () => {
    expect(prometheusText([{ ...gauge, samples: [] }])).toBe('');
  });
});
