/** Texts and JSON values that have broken other services, and the random ones between them. */
import type { SeededRandom } from '../../support/seeded-random.js';

export const prototypeNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'toJSON',
  'length',
];

const oddTexts = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  '%2e%2e%2f',
  '%00',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202egnp',
  '\u2028',
  'Ünïcødé',
  '\u{1f600}\u{1f468}\u200d\u{1f469}',
  'ﬀ',
  'İ',
  '\r\nset-cookie: a=b',
  '\n{"level":60,"msg":"forged"}',
  '\u001b[31m',
  '"',
  '\\',
  "' OR '1'='1",
  '$' + '{jndi}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  'null',
  'undefined',
  'NaN',
  '0x10',
  'Infinity',
  '#',
  '?a=b',
  'sk-bf-retired',
];

export function hostileText(random: SeededRandom): string {
  const kind = random.below(10);
  if (kind < 3) return random.pick(prototypeNames);
  if (kind < 7) return random.pick(oddTexts);
  if (kind === 7) return random.pick(['a', 'é', '\u{1f600}', '/', '\u0000']).repeat(1 + random.below(3_000));
  return randomText(random, 1 + random.below(40));
}

export function randomText(random: SeededRandom, length: number): string {
  let text = '';
  for (let left = length; left > 0; left--) {
    text += random.chance(0.7)
      ? String.fromCharCode(32 + random.below(95))
      : String.fromCodePoint(random.below(0xd800 - 1));
  }
  return text;
}

/** JSON texts, because a parsed value cannot say `1e999` or name a key twice. */
const values = {
  number: ['0', '1', '-1', '1.5', '1e308', '-0', '123456789012345678901234567890'],
  string: ['""', '"1"', '"true"', '"null"', '"0.5"', '"\\u0000"', '"__proto__"', '"[]"'],
  boolean: ['true', 'false'],
  array: ['[]', '[1]', '[null]', '[[]]', '[{}]', '["a","b"]'],
  object: ['{}', '{"a":1}', '{"__proto__":{"a":1}}', '{"toString":null}', '{"length":1,"0":{"role":"user"}}'],
};
export type JsonKind = keyof typeof values;

/** A value of any kind but those. */
export function valueNotOf(random: SeededRandom, ...kinds: JsonKind[]): string {
  const others = (Object.keys(values) as JsonKind[]).filter((kind) => !kinds.includes(kind));
  return random.pick(values[random.pick(others)]);
}

/** Bodies that are no JSON object; every one is a 400 without `param`. */
export function bodyThatIsNoObject(random: SeededRandom, valid: string): Buffer {
  const texts = [
    '',
    ' ',
    'null',
    'true',
    '1',
    '"text"',
    '[]',
    `[${valid}]`,
    `${valid}${valid}`,
    `${valid},`,
    `${valid}x`,
    valid.slice(0, random.below(valid.length)),
    valid.slice(1),
    valid.replace('{', '{,'),
    valid.replace(/}$/, ',}'),
    valid.replaceAll('"', "'"),
    valid.replace(/}$/, ',"temperature":NaN}'),
    valid.replace(/}$/, ',"temperature":.5}'),
    valid.replace(/}$/, ',"temperature":01}'),
    valid.replace(/}$/, ',"temperature":1e}'),
    valid.replace(/}$/, ',"x":"\n"}'),
    valid.replace(/}$/, ',"x":"\\x41"}'),
    valid.replace(/}$/, ',"x":"\\u12"}'),
    valid.replace(/}$/, ',x:1}'),
    valid.replace(/}$/, '/* comment */}'),
    `\ufeff\ufeff${valid}`,
    `)]}',\n${valid}`,
    '<xml/>',
    'model=a&messages=b',
    '{'.repeat(1 + random.below(2_000)),
    '['.repeat(1 + random.below(2_000)),
    deep(valid, 129 + random.below(2_000)),
  ];
  const bytes = [
    Buffer.from(valid, 'utf16le'),
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(valid, 'utf16le')]),
    Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.from(valid)]),
    Buffer.from(valid.replace(/}$/, ',"x":"\xff\xfe"}'), 'latin1'),
    Buffer.from(valid.replace(/}$/, ',"x":"\xed\xa0\x80"}'), 'latin1'),
    Buffer.from(valid.replace(/}$/, ',"x":"\xc0\xaf"}'), 'latin1'),
    Buffer.from(Array.from({ length: 1 + random.below(200) }, () => random.below(256) | 0x80)),
  ];
  return random.chance(0.8) ? Buffer.from(random.pick(texts)) : random.pick(bytes);
}

function deep(valid: string, levels: number): string {
  const [open, close] = levels % 2 === 0 ? ['[', ']'] : ['{"a":', '}'];
  return valid.replace(/}$/, `,"x":${open.repeat(levels)}1${close.repeat(levels)}}`);
}
