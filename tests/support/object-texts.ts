/** Writes JSON objects for property tests of a scanner: usual ones, and now and then an unusual one. */
import type { SeededRandom } from './seeded-random.js';

const oddities = [
  'null',
  '1',
  '-1.5e3',
  '"x"',
  '""',
  '[]',
  '{}',
  'true',
  '"\\u0061"',
  '{"a":1,"a":2}',
  '[{}]',
  '"\\n"',
];

/** One of the usual texts; now and then another one. */
const odd = (random: SeededRandom, usual: readonly string[]): string =>
  random.pick(random.chance(0.97) ? usual : oddities);

type Shape = Readonly<Record<string, readonly string[]>>;

/** An object of some members of a shape, of which a few are always there. */
export function objectText(random: SeededRandom, always: readonly string[], shape: Shape): string {
  const members = Object.entries(shape)
    .filter(([name]) => (always.includes(name) ? random.chance(0.98) : random.chance(0.15)))
    .map(([name, values]) => `"${name}"${random.pick(['', '', ' '])}:${odd(random, values)}`);
  if (random.chance(0.02)) members.push(...members.slice(0, 1));
  if (random.chance(0.3)) members.reverse();
  return `{${members.join(random.pick([',', ' , ']))}}`;
}

export const list = (random: SeededRandom, entry: () => string): string =>
  `[${Array.from({ length: 1 + random.below(2) }, entry).join(',')}]`;
