import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../../tests/support/seeded-random.js';
import { HeldText } from './held-text.js';

/** Every character of latin1, so that a wrong place or a wrong encoding shows. */
const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
const textOf = (length: number, from: number) => characters.repeat(250).slice(from, from + length);

describe('held text', () => {
  it('gives the text that was added, whatever was lent and given back in between', () => {
    forSeeds(30, (random) => {
      const held = new HeldText();
      let expected = '';
      let lent: { part: Buffer; text: string } | null = null;
      for (let step = 0; step < 60; step++) {
        const length = random.below(random.pick([10, 4_000, 60_000]));
        if (lent !== null && random.chance(0.3)) {
          expect(lent.part.toString('latin1') === lent.text).toBe(true);
          const rest = lent.text.slice(lent.text.length - random.below(lent.text.length + 1));
          held.giveBack(rest);
          expected = rest + expected;
          lent = null;
        } else if (lent === null && random.chance(0.3)) {
          lent = { part: held.lend(length), text: expected.slice(0, length) };
          expected = expected.slice(length);
        } else {
          const text = textOf(length, step);
          held.append(text);
          expected += text;
        }
        expect(held.length).toBe(expected.length);
      }
      expect(held.toString() === expected).toBe(true);
    });
  });

  it('takes a rest that is longer than what was lent', () => {
    const held = new HeldText();
    held.append('abcdef');
    held.lend(2);
    held.giveBack('a longer beginning, ');
    expect(held.toString()).toBe('a longer beginning, cdef');
  });

  it('finds characters by their place in what is left', () => {
    const held = new HeldText();
    held.append('a\\b\\c');
    held.lend(2);
    expect([held.indexOf(0x5c, 0), held.at(0), held.indexOf(0x78, 0)]).toEqual([1, 0x62, -1]);
  });

  it('of two streams never shares memory', () => {
    const [one, other] = [new HeldText(), new HeldText()];
    const long = textOf(40_000, 0);
    one.append(long);
    one.lend(40_000);
    one.append(long);
    one.giveBack('');
    other.append(textOf(40_000, 7));
    one.append('end');
    expect([one.toString() === `${long}end`, other.toString() === textOf(40_000, 7)]).toEqual([true, true]);
  });
});
