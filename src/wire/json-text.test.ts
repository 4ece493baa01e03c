import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { entryOf, JsonMeasure, parseJsonBytes, plainText, readable, shown } from './json-text.js';

const pieces = ['a', ' ', 'é', '字', '😀', '\\n', '\\"', '\\\\', '\\/', '\u0080', '\u2028', '\ufeff', '\u007f'];
const escapes = ['\\u00e9', '\\ud83d\\ude00', '\\u0000', '\\ud83d', '\\u2028', '\\\\u0041'];
const bom = Buffer.from([0xef, 0xbb, 0xbf]);

/** What a plain parser makes of the same bytes. */
const plainly = (bytes: Buffer): unknown => JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
const written = (value: unknown, encoding: 'latin1' | 'utf8'): Buffer => Buffer.from(JSON.stringify(value), encoding);

describe('JSON out of bytes', () => {
  it('gives back the very bytes of any valid UTF-8 without escapes', () => {
    forSeeds(400, (random) => {
      const texts = Array.from({ length: 4 }, () => random.textOf(pieces, 8));
      const body = Buffer.from(`{"${texts[0]}k":"${texts[1]}","m":["${texts[2]}",1,null,{"x":"${texts[3]}"}]}`);
      const { value, encoding } = parseJsonBytes(body);
      expect(encoding).toBe('latin1');
      const out = written(value, encoding);
      expect(JSON.parse(out.toString('utf8'))).toEqual(plainly(body));
      if (!body.includes('\\/')) expect(out.equals(body)).toBe(true);
    });
  });

  it('means the same with escapes, where bytes and characters differ', () => {
    forSeeds(400, (random) => {
      const body = Buffer.from(`["${random.textOf([...pieces, ...escapes], 12)}${random.pick(escapes)}"]`);
      const { value, encoding } = parseJsonBytes(body);
      expect(encoding).toBe('utf8');
      expect(value).toEqual(plainly(body));
      expect(JSON.parse(written(value, encoding).toString('utf8'))).toEqual(plainly(body));
    });
  });

  it('refuses bytes that are not UTF-8 with a SyntaxError, escapes or not', () => {
    const broken = [
      [0xff],
      [0xc3],
      [0xe5, 0xad],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0x80],
    ];
    for (const bytes of broken) {
      for (const escaped of ['', '\\u0041']) {
        const body = Buffer.concat([Buffer.from(`["${escaped}`), Buffer.from(bytes), Buffer.from('"]')]);
        expect(isUtf8(body)).toBe(false);
        expect(() => parseJsonBytes(body)).toThrow(SyntaxError);
      }
    }
  });

  it.each(['["x"]', '["\\u0041"]'])('takes one byte-order mark off %s', (text) => {
    expect(parseJsonBytes(Buffer.concat([bom, Buffer.from(text)])).value).toEqual(JSON.parse(text));
    expect(() => parseJsonBytes(Buffer.concat([bom, bom, Buffer.from(text)]))).toThrow(SyntaxError);
  });

  it.each([
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"a":1}', 'utf16le')])],
    ['nothing', Buffer.alloc(0)],
    ['only a mark', bom],
    ['a NUL', Buffer.from('{"a":1}\0')],
    ['text after the value', Buffer.from('{} {}')],
    ['a raw line break in a string', Buffer.from('["a\nb"]')],
  ])('refuses %s with a SyntaxError', (_, body) => {
    expect(() => parseJsonBytes(body)).toThrow(SyntaxError);
  });
});

describe('text out of a latin1 reading', () => {
  it('is readable again', () => {
    const latin1 = Buffer.from('Grüße 😀').toString('latin1');
    expect(readable(latin1, 'latin1')).toBe('Grüße 😀');
    expect(plainText(latin1, 'latin1')).toBe('Grüße 😀');
    expect(plainText('Grüße 😀', 'utf8')).toBe('Grüße 😀');
    expect(plainText('ascii', 'latin1')).toBe('ascii');
  });
});

describe('a value in a message', () => {
  it.each([
    [1.5, '1.5'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [true, 'true'],
    [null, 'null'],
    ['x', '"x"'],
    [[], 'an array'],
    [{}, 'an object'],
  ])('%j is shown as %s', (value, text) => expect(shown(value, 'utf8')).toBe(text));

  it.each([
    ['latin1', Buffer.from('字'.repeat(5_000)).toString('latin1')],
    ['latin1', `x${Buffer.from('😀'.repeat(5_000)).toString('latin1')}`],
    ['utf8', '字'.repeat(5_000)],
    ['utf8', `x${'😀'.repeat(5_000)}`],
  ] as const)('is cut to a line without breaking a character (%s)', (encoding, text) => {
    const line = shown(text, encoding);
    expect(line.length).toBeLessThanOrEqual(101);
    expect(line.endsWith('…')).toBe(true);
    expect(line).not.toContain('\ufffd');
    expect(line).toBe(Buffer.from(line).toString());
  });
});

describe('a table that is asked by a foreign word', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'b'])('has no entry for %s', (word) => {
    expect(entryOf({ a: 1 }, word)).toBe(undefined);
    expect(entryOf({ a: 1 }, 'a')).toBe(1);
  });
});

describe('the measure of JSON text', () => {
  const bounds = { values: 1_000, names: 100 };
  const measured = (text: string, pieceBytes = Infinity): string | null => {
    const bytes = Buffer.from(text);
    const measure = new JsonMeasure(bounds);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const excess = measure.add(bytes.subarray(at, at + pieceBytes));
      if (excess !== null) return excess;
    }
    return null;
  };
  const named = (count: number) => `{${Array.from({ length: count }, (_, at) => `"name ${at}":0`).join(',')}}`;
  const list = (value: string, count: number) => `[${Array.from({ length: count }, () => value).join(',')}]`;

  it.each([
    ['128 levels', `${'['.repeat(128)}${']'.repeat(128)}`, null],
    ['129 levels', `${'['.repeat(129)}${']'.repeat(129)}`, 'is nested deeper than 128 levels'],
    ['lists that are closed again', list('[[]]', 300), null],
    ['1,000 values', list('1', 1_000), null],
    ['1,001 values', list('1', 1_001), 'has over 1000 values'],
    ['empty lists', list('[]', 600), 'has over 1000 values'],
    ['100 names', named(100), null],
    ['101 names, but for those that are taken for one', named(110), 'has over 100 different names'],
    ['one name many times', list('{"name":0}', 300), null],
    ['long names', `{${list(`"${'x'.repeat(65)}":0`, 101).slice(1, -1)}}`, 'has over 100 different names'],
    ['a number of 1,000 digits', `[1, ${'1'.repeat(1_000)}, 2]`, null],
    ['a number of 1,001 digits', `[1, ${'1'.repeat(1_001)}, 2]`, 'has a number of over 1000 digits'],
    ['blanks', `[${' '.repeat(2_000)}1]`, null],
    ['brackets, commas and quotes in a text', JSON.stringify({ a: '[{,:"\\'.repeat(2_000) }), null],
  ])('%s', (_, text, excess) => {
    expect(measured(text)).toBe(excess);
    // A name that two pieces share counts anew, so the pieces are longer than the text has names.
    for (const pieceBytes of [text.length - 1, Math.ceil(text.length / 2), Math.ceil(text.length / 3)]) {
      if (!text.includes('name')) expect(measured(text, pieceBytes)).toBe(excess);
    }
  });

  it('is the same wherever a text is split, also behind a backslash', () => {
    const text = JSON.stringify([{ a: '\\"[[["' }, '\\', [['"\\"']], 1.5, null]);
    for (let pieceBytes = 1; pieceBytes <= text.length; pieceBytes++) expect(measured(text, pieceBytes)).toBe(null);
    const long = JSON.stringify({
      a: 'x'.repeat(2_600),
      b: `${'x'.repeat(1_300)}"[`,
      c: `${'x'.repeat(1_023)}\\`,
      d: [],
    });
    for (let pieceBytes = 1; pieceBytes <= long.length; pieceBytes += 97) expect(measured(long, pieceBytes)).toBe(null);
    expect(measured(`${long.slice(0, -1)},"e":${'['.repeat(200)}`)).toBe('is nested deeper than 128 levels');
    const deep = `["\\"${'['.repeat(200)}",${'['.repeat(128)}`;
    for (let pieceBytes = 1; pieceBytes <= deep.length; pieceBytes++) {
      expect(measured(deep, pieceBytes)).toBe('is nested deeper than 128 levels');
    }
  });
});
