import { describe, expect, it } from 'vitest';
import { barShares, plotSvg } from './plot.mjs';

describe('the bars', () => {
  it('are longest for the highest value, and equal steps for equal factors', () => {
    const [one, ten, hundred] = barShares([1, 10, 100]);
    expect(hundred).toBe(1);
    expect(ten - one).toBeCloseTo(hundred - ten);
    expect(one).toBeGreaterThan(0);
  });
  it('have no length without a value', () => expect(barShares([Number.NaN, 5, 10])[0]).toBe(0));
});

it('a plot names every gateway, marks ours, and follows a dark theme', () => {
  const values = [
    { name: 'a < b', value: 3, text: '3 µs', ours: false },
    { name: 'Lodestone', value: 6, text: '6 µs', ours: true },
  ];
  const svg = plotSvg([{ title: 'CPU', note: 'less is better', values }], 'a comparison');
  expect(svg).toContain('a &lt; b');
  expect(svg.match(/class="bar ours"/g)).toHaveLength(1);
  expect(svg).toContain('prefers-color-scheme: dark');
});
