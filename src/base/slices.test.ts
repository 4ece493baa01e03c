import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Slices } from './slices.js';

let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => void vi.restoreAllMocks());

/** How long the slice is that follows a turn in which others had the thread for so long. */
async function lengthAfter(othersMs: number): Promise<number> {
  const slices = new Slices();
  setImmediate(() => (nowMs += othersMs));
  await slices.next();
  const from = nowMs;
  while (!slices.isOver()) nowMs += 0.001;
  return nowMs - from;
}

it('gives the thread to others between two slices', async () => {
  const seen: string[] = [];
  const slices = new Slices();
  setImmediate(() => seen.push('a request'));
  for (const piece of ['first', 'second']) {
    seen.push(piece);
    nowMs += 1;
    if (slices.isOver()) await slices.next();
  }
  expect(seen).toEqual(['first', 'a request', 'second']);
});

it.each([
  ['short where others do little', 0.01, 0.1],
  ['a quarter of what others had', 2, 0.5],
  ['never longer, whatever kept the thread', 50, 0.7],
])('is %s', async (_, othersMs, expected) => {
  expect(await lengthAfter(othersMs)).toBeCloseTo(expected, 2);
});
