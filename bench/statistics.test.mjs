import { describe, expect, it } from 'vitest';
import { highestRate, median, pairByRound, percentile, ratioOfPooled, summaryOf } from './statistics.mjs';

describe('the median', () => {
  it('is the middle value', () => expect(median([3, 1, 2])).toBe(2));
  it('is the mean of the two middle values', () => expect(median([4, 1, 2, 3])).toBe(2.5));
  it('ignores what was not measured', () => expect(median([Number.NaN, 5])).toBe(5));
  it('is no number without values', () => expect(median([])).toBeNaN());
});

describe('a percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  it('leaves one in a hundred above it', () => expect(percentile(hundred, 0.99)).toBe(99));
  it('is the middle at one half', () => expect(percentile(hundred, 0.5)).toBe(50));
  it('of one value is that value', () => expect(percentile([7], 0.99)).toBe(7));
  it('is no number without values', () => expect(percentile([], 0.5)).toBeNaN());
});

it('a summary names the median, the ends and the number of rounds', () => {
  expect(summaryOf([2, 1, 9, Number.NaN])).toEqual({ value: 2, low: 1, high: 9, rounds: 3 });
});

describe('the ratio of a percentile of pooled samples', () => {
  const rounds = (factor) => [1, 2, 3].map((round) => Array.from({ length: 100 }, (_, i) => factor * (i + round)));
  it('is that of all samples, and lies between its bounds', () => {
    const { value, low, high } = ratioOfPooled(rounds(3), rounds(2), 0.99);
    expect(value).toBeCloseTo(1.5);
    expect([low <= value, value <= high]).toEqual([true, true]);
  });
  it('has wide bounds where a round differs from the others', () => {
    const uneven = [Array(100).fill(1), Array(100).fill(1), Array(100).fill(50)];
    const { low, high } = ratioOfPooled(uneven, rounds(1), 0.99);
    expect(high / low).toBeGreaterThan(10);
  });
});

describe('values paired by round', () => {
  it('combine the two sides of the same round, whatever their order', () => {
    const ours = [
      { round: 0, us: 10 },
      { round: 1, us: 30 },
    ];
    const theirs = [
      { round: 1, us: 10 },
      { round: 0, us: 5 },
    ];
    expect(pairByRound(ours, theirs, (a, b) => a.us / b.us)).toEqual([2, 3]);
  });

  it('leave out a round that one side lacks', () => {
    expect(pairByRound([{ round: 0 }, { round: 1 }], [{ round: 1 }], () => 1)).toEqual([1]);
  });
});

describe('the search for the highest rate', () => {
  const upTo = (limit) => {
    const asked = [];
    const holds = async (rate) => {
      asked.push(rate);
      return rate <= limit;
    };
    return { asked, holds };
  };

  it('ends within its precision below the limit', async () => {
    const { holds } = upTo(1_000);
    const rate = await highestRate({ from: 100, most: 100_000, precision: 0.1, holds });
    expect(rate).toBeLessThanOrEqual(1_000);
    expect(rate).toBeGreaterThanOrEqual(900);
  });

  it('is zero where even the lowest rate is too much', async () => {
    expect(await highestRate({ from: 100, most: 1_000, holds: upTo(50).holds })).toBe(0);
  });

  it('looks below its start where that is too much', async () => {
    const rate = await highestRate({ from: 400, least: 25, most: 1_000, holds: upTo(70).holds });
    expect(rate).toBeLessThanOrEqual(70);
    expect(rate).toBeGreaterThanOrEqual(63);
  });

  it('stops at the highest rate that it may ask for', async () => {
    expect(await highestRate({ from: 100, most: 400, holds: async () => true })).toBe(400);
  });

  it('forgives one disturbed try', async () => {
    let calls = 0;
    const holds = async (rate) => rate <= 400 && ++calls !== 1;
    expect(await highestRate({ from: 100, most: 400, holds })).toBe(400);
  });

  it('asks no more often than it may', async () => {
    const { asked, holds } = upTo(777);
    await highestRate({ from: 1, most: 1_000_000, precision: 0.0001, triesMax: 12, holds });
    expect(asked).toHaveLength(12);
  });
});
