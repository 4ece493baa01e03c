import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import { threadTime } from '../../tests/support/thread-time.js';
import { findMembers, keptMembers, membersWithRepeats, memberValue } from './json-members.js';

const blanks = ['', '', '', ' ', '\n', '\t ', '\r\n'];
const names = ['a', 'b', 'usage', 'messages', '', 'ke"y', 'é', '{', '\\', '__proto__', 'constructor', 'a:b', 'x,y'];
const texts = ['', 'x', '"', '\\', '\\"', '{', '}', '[', ']', ',', ':', '","usage":{}', '\\\\', 'é'];

/** JSON text with blanks anywhere between its parts. */
function jsonText(random: SeededRandom, depth: number): string {
  const kind = depth > 2 ? random.below(3) : random.below(5);
  if (kind === 0) return random.pick(['1', '-0', '1e999', 'true', 'null', '2.50']);
  if (kind <= 2) return JSON.stringify(random.textOf(texts, 4));
  const inner = Array.from({ length: random.below(4) }, () =>
    blank(random, kind === 3 ? jsonText(random, depth + 1) : memberText(random, depth + 1)),
  );
  return kind === 3 ? `[${inner.join(',')}${random.pick(blanks)}]` : `{${inner.join(',')}${random.pick(blanks)}}`;
}
function blank(random: SeededRandom, text: string): string {
  return random.pick(blanks) + text + random.pick(blanks);
}
function memberText(random: SeededRandom, depth: number): string {
  return `${JSON.stringify(random.pick(names))}${random.pick(blanks)}:${blank(random, jsonText(random, depth))}`;
}
function objectText(random: SeededRandom): string {
  const members = Array.from({ length: random.below(6) }, () => blank(random, memberText(random, 1)));
  return blank(random, `{${members.join(',') || random.pick(blanks)}}`);
}

describe('members of a JSON object', () => {
  it('are cut out of its text as parsing and serialising would have them, or not at all', () => {
    let cut = 0;
    forSeeds(4_000, (random) => {
      const text = objectText(random);
      const value = JSON.parse(text) as Record<string, unknown>;
      const dropped = random.pick(names);
      const members = findMembers(text);
      if (members === null) return;
      cut++;
      const kept = JSON.parse(`{${keptMembers(text, members, (key) => key !== dropped)}}`) as object;
      expect(Object.entries(kept)).toEqual(Object.entries(value).filter(([key]) => key !== dropped));
      for (const key of members.keys) expect(JSON.parse(memberValue(text, members, key)!)).toEqual(value[key]);
      expect(memberValue(text, members, 'not there')).toBeUndefined();
    });
    expect(cut).toBeGreaterThan(250);
  });

  it.each(['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"\\u0061":1}', '{"a\\"":1}'])(
    'are not cut out of %s, where a key is doubled or escaped',
    (text) => {
      expect(findMembers(text)).toBeNull();
    },
  );

  it('keep everything of what they are cut from, blanks and spelling too', () => {
    const text = ' {"a" : 1.50 , "b":[1 , {"a":2}],"c":"x"} ';
    const members = findMembers(text)!;
    expect(keptMembers(text, members, () => true)).toBe('"a" : 1.50 , "b":[1 , {"a":2}],"c":"x"');
    expect(keptMembers(text, members, (key) => key !== 'b')).toBe('"a" : 1.50 ,"c":"x"');
    expect(keptMembers(text, members, () => false)).toBe('');
    expect(keptMembers('{}', findMembers('{}')!, () => true)).toBe('');
  });

  it('name those with a doubled key somewhere in them', () => {
    const repeated = (text: string) => membersWithRepeats(findMembers(text)!, JSON.parse(text));
    expect(repeated('{"m":[{"a":1,"b":{"c":2}},{"a":"x:y"}],"n":[{"a":1}],"o":1}')).toEqual([]);
    expect(repeated('{"m":[{"a":1,"a":2}],"n":{"b":{}},"o":[[{"c":1,"\\u0063":2}]],"p":{}}')).toEqual(['m', 'o']);
    expect(repeated('{"m":{"__proto__":1,"toString":2},"n":{"__proto__":{"a":1},"__proto__":2}}')).toEqual(['n']);
    expect(repeated('{}')).toEqual([]);
  });

  it('cost by the length of the text, backslashes included', () => {
    for (const inside of ['\\\\'.repeat(500_000), '\\"'.repeat(500_000), 'x'.repeat(1_000_000)]) {
      const text = `{"a":"${inside}"}`;
      const started = threadTime().ranMs;
      expect(findMembers(text)).not.toBeNull();
      // work by the square of the length would take minutes
      expect(threadTime().ranMs - started).toBeLessThan(5_000);
    }
  });
});
