/**
 * Walks through JSON text and checks that it is valid, without building any value. Strings are skipped by a search for their closing
 * quote, so a long prompt costs little. It knows the usual form of JSON only: text with `\u` escapes is not taken, and text with line
 * breaks only on request. Whoever uses it reads such text with the parser instead (docs/decisions/0038).
 */
import { isUtf8 } from 'node:buffer';

const blank = 0x20;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The characters after a backslash that make an escape, without `u`. */
const escapable = new Uint8Array(128);
for (const character of '"\\/bfnrt') escapable[character.charCodeAt(0)] = 1;

/** Capitals, and bytes beyond ASCII. */
const isUnusual = new Uint8Array(256).fill(1, 128).fill(1, 0x41, 0x5b);

/** Every method that returns a boolean moves behind what it read, and returns false where the text is not what it expects. */
export class JsonScanner {
  text = '';
  at = 0;
  /** The first backslash that is not before `at`; the length of the text where there is none. */
  private nextBackslash = 0;
  /** Line breaks and tabs that were not yet skipped as white space. At the end, those that are left are inside of strings. */
  private breaksLeft = 0;

  /**
   * False where the bytes are not text that this scanner takes. With `takesBreaks` white space may be line breaks and tabs too: no string
   * is then valid before `isAtEnd` was true.
   */
  open(bytes: Buffer, takesBreaks = false): boolean {
    this.breaksLeft = 0;
    if (!isPlain(bytes)) {
      this.breaksLeft = takesBreaks ? breaksIn(bytes) : 0;
      if (this.breaksLeft === 0) return false;
    }
    this.text = bytes.toString('latin1');
    this.at = 0;
    this.nextBackslash = 0;
    this.findBackslash(0);
    return true;
  }

  /** The text is not kept longer than it is read. */
  close(): void {
    this.text = '';
  }

  /** The next character that is no white space, which stays unread. NaN at the end. */
  peek(): number {
    let code = this.text.charCodeAt(this.at);
    while (code <= blank) {
      if (code !== blank) this.breaksLeft--;
      code = this.text.charCodeAt(++this.at);
    }
    return code;
  }

  /** Whether nothing but white space is left, and no string had a line break in it. */
  isAtEnd(): boolean {
    return Number.isNaN(this.peek()) && this.breaksLeft === 0;
  }

  take(code: number): boolean {
    if (this.peek() !== code) return false;
    this.at++;
    return true;
  }

  takeWord(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** Which of the names the text from `start` to `end` is; null where it is none of them. */
  nameAt<Name extends string>(names: readonly Name[], start: number, end: number): Name | null {
    for (const name of names) if (name.length === end - start && this.text.startsWith(name, start)) return name;
    return null;
  }

  /** The index of the name that the text from `start` to `end` is; -1 where it is none of them. */
  indexAt(names: readonly string[], start: number, end: number): number {
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!;
      if (name.length === end - start && this.text.startsWith(name, start)) return index;
    }
    return -1;
  }

  /** Whether the text from `start` to `end` has no capital and nothing beyond ASCII. */
  isLowerCase(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (isUnusual[this.text.charCodeAt(at)] === 1) return false;
    return true;
  }

  /** A string; `at` is its opening quote. */
  skipString(): boolean {
    let end = this.text.indexOf('"', this.at + 1);
    while (end !== -1 && this.nextBackslash < end) {
      const escaped = this.text.charCodeAt(this.nextBackslash + 1);
      if (escapable[escaped] !== 1) return false;
      const after = this.nextBackslash + 2;
      this.findBackslash(after);
      if (end < after) end = this.text.indexOf('"', after);
    }
    if (end === -1) return false;
    this.at = end + 1;
    return true;
  }

  /** A string without escapes: its inside is `text.slice(start, at - 1)`. Returns `start`, or -1. */
  takePlainString(): number {
    if (this.peek() !== quote) return -1;
    const start = this.at + 1;
    const end = this.text.indexOf('"', start);
    if (end === -1 || this.nextBackslash < end) return -1;
    this.at = end + 1;
    return start;
  }

  /** The key of a member and the colon behind it. Returns where the inside of the key begins, or -1; it ends at `keyEnd`. */
  takeKey(): number {
    const start = this.takePlainString();
    this.keyEnd = this.at - 1;
    return start !== -1 && this.take(colon) ? start : -1;
  }

  keyEnd = 0;

  skipNumber(): boolean {
    const { text } = this;
    if (text.charCodeAt(this.at) === minus) this.at++;
    if (text.charCodeAt(this.at) === zero) this.at++;
    else if (!this.skipDigits()) return false;
    if (text.charCodeAt(this.at) === point) {
      this.at++;
      if (!this.skipDigits()) return false;
    }
    if ((text.charCodeAt(this.at) | 0x20) === 0x65) {
      const sign = text.charCodeAt(++this.at);
      if (sign === 0x2b || sign === minus) this.at++;
      return this.skipDigits();
    }
    return true;
  }

  /** A number; NaN where there is none. */
  takeNumber(): number {
    this.peek();
    const start = this.at;
    return this.skipNumber() ? Number(this.text.slice(start, this.at)) : Number.NaN;
  }

  /** Any value. `levels` is how many levels of objects and arrays it may have. */
  skipValue(levels: number): boolean {
    switch (this.peek()) {
      case quote:
        return this.skipString();
      case openBrace:
        return levels > 0 && this.skipObject(levels - 1);
      case openBracket:
        return levels > 0 && this.skipArray(levels - 1);
      case 0x74:
        return this.takeWord('true');
      case 0x66:
        return this.takeWord('false');
      case 0x6e:
        return this.takeWord('null');
      default:
        return this.skipNumber();
    }
  }

  /** The comma before another member or entry, or the end of the object or array. */
  takeNext(close: number): 'more' | 'end' | null {
    const code = this.peek();
    if (code !== comma && code !== close) return null;
    this.at++;
    return code === comma ? 'more' : 'end';
  }

  private skipObject(levels: number): boolean {
    this.at++;
    if (this.take(closeBrace)) return true;
    for (;;) {
      if (this.peek() !== quote || !this.skipString() || !this.take(colon) || !this.skipValue(levels)) return false;
      const next = this.takeNext(closeBrace);
      if (next !== 'more') return next === 'end';
    }
  }

  private skipArray(levels: number): boolean {
    this.at++;
    if (this.take(closeBracket)) return true;
    for (;;) {
      if (!this.skipValue(levels)) return false;
      const next = this.takeNext(closeBracket);
      if (next !== 'more') return next === 'end';
    }
  }

  private skipDigits(): boolean {
    const start = this.at;
    for (let code = this.text.charCodeAt(start); code >= zero && code <= nine; ) code = this.text.charCodeAt(++this.at);
    return this.at > start;
  }

  private findBackslash(from: number): void {
    const next = this.text.indexOf('\\', from);
    this.nextBackslash = next === -1 ? this.text.length : next;
  }
}

const scratch = Buffer.allocUnsafeSlow(16 * 1024);
const words = new Int32Array(scratch.buffer, scratch.byteOffset, scratch.length / 4);
const highBits = 0x80808080 | 0;
const blanks = 0x20202020;

/** True where the bytes are UTF-8 without control characters. Sixteen bytes are checked at a time, in aligned memory. */
function isPlain(bytes: Buffer): boolean {
  let all = 0;
  for (let from = 0; from < bytes.length; from += scratch.length) {
    const length = bytes.copy(scratch, 0, from);
    const end = (length + 15) & ~15;
    for (let i = length; i < end; i++) scratch[i] = blank;
    // A byte below the blank borrows into its own highest bit; the test is exact for the four bytes of a word together.
    let below = 0;
    for (let i = 0; i < end >> 2; i += 4) {
      const a = words[i]!;
      const b = words[i + 1]!;
      const c = words[i + 2]!;
      const d = words[i + 3]!;
      all |= a | b | c | d;
      below |= ((a - blanks) & ~a) | ((b - blanks) & ~b) | ((c - blanks) & ~c) | ((d - blanks) & ~d);
    }
    if ((below & highBits) !== 0) return false;
  }
  return (all & highBits) === 0 || isUtf8(bytes);
}

/** How many line breaks and tabs the bytes have; 0 where they have other control characters, or are not UTF-8. */
function breaksIn(bytes: Buffer): number {
  let breaks = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte >= blank) continue;
    if (byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return 0;
    breaks++;
  }
  return isUtf8(bytes) ? breaks : 0;
}

/** More names than these are not compared. */
const othersMax = 32;

/** The names of an object's members while its text is scanned: finds a name that comes twice. */
export class SeenNames {
  private readonly bits: ReadonlyMap<string, number>;
  private seen = 0;
  private readonly others: string[] = [];

  /** At most 31 names that are expected; they are found without a comparison with all others. */
  constructor(expected: readonly string[]) {
    this.bits = new Map(expected.map((name, index) => [name, 1 << index]));
  }

  clear(): void {
    this.seen = 0;
    this.others.length = 0;
  }

  /** Notes a name. False where it was there before, or where there are too many. */
  add(name: string): boolean {
    const bit = this.bits.get(name);
    if (bit === undefined) return !this.others.includes(name) && this.others.push(name) <= othersMax;
    const isNew = (this.seen & bit) === 0;
    this.seen |= bit;
    return isNew;
  }

  /** Whether an expected name has been noted. */
  has(name: string): boolean {
    return (this.seen & (this.bits.get(name) ?? 0)) !== 0;
  }
}
