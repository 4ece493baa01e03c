import { expect, it } from 'vitest';
import { placeName, placeWithLocode } from './place.js';

it('a place has the name of its city, a global route has no fixed region, and an unknown place its locode', () => {
  expect(['Paris', null, undefined].map((city) => placeName(city, 'frpar'))).toEqual(['Paris', 'frpar', 'frpar']);
  expect(placeName(null, 'global')).toBe('No fixed region');
  expect(placeWithLocode('Paris', 'frpar')).toBe('Paris (frpar)');
  expect([placeWithLocode(null, 'frpar'), placeWithLocode(null, 'global')]).toEqual([
    'frpar',
    'No fixed region (global)',
  ]);
});
