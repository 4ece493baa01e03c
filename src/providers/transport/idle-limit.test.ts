import { expect, it } from 'vitest';
import { IdleLimit } from './connections.js';

it('an origin whose timer closes idle connections is sent nothing in the last fifth of it for ten minutes', () => {
  const limit = new IdleLimit();
  limit.learn(0, 5_000);
  expect(limit.at(5_000)).toBe(2_500);
  limit.learn(20_000, 25_100);
  expect([limit.at(25_100), limit.at(60_000), limit.at(600_000)]).toEqual([4_080, 4_080, 4_080]);
  expect(limit.at(700_000), 'it closed none for as long').toBeGreaterThan(55_000);
});

it('connections that a restart closes at once are no timer, so the limit grows back soon', () => {
  const limit = new IdleLimit();
  for (const idleSinceMs of [0, 100, 200]) limit.learn(idleSinceMs, 20_000);
  expect(limit.at(20_000)).toBe(9_900);
  expect(limit.at(20_000 + 62_000)).toBeGreaterThan(40_000);
});
