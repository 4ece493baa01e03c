import { expect, it } from 'vitest';
import { largeReadBytes, ReadTurns } from './read-turns.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('a turn takes a bounded amount of large reads; the others go on in later turns, in their order, a few at a time', async () => {
  const turns = new ReadTurns();
  const resumed: number[] = [];
  const admitted = Array.from({ length: 20 }, (_, at) => turns.admits(largeReadBytes, () => resumed.push(at)));
  expect(admitted.filter(Boolean)).toHaveLength(7);
  const waiting = Array.from({ length: 13 }, (_, at) => 7 + at);
  expect(resumed).toEqual([]);
  await nextTurn();
  expect(resumed).toEqual(waiting.slice(0, 4));
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(resumed).toEqual(waiting);
});

it('a turn in which nothing waits begins anew', async () => {
  const turns = new ReadTurns();
  const unexpected = () => expect.unreachable();
  expect(turns.admits(60_000, unexpected)).toBe(true);
  await nextTurn();
  expect(turns.admits(60_000, unexpected)).toBe(true);
});

it('sockets whose readers have caught up are read again at once, a few in a turn', async () => {
  const turns = new ReadTurns();
  const resumed: number[] = [];
  for (let at = 0; at < 10; at++) turns.resume(() => resumed.push(at));
  expect(resumed).toHaveLength(4);
  await nextTurn();
  expect(resumed).toHaveLength(8);
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(resumed).toEqual(Array.from({ length: 10 }, (_, at) => at));
});
