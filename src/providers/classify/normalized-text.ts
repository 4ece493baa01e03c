/**
 * Reduces texts to what survives quoting, escaping and changes of case: lower-case letters and digits. JSON, Python, URL and HTML
 * escapes are decoded. Everything between two letters is dropped and recorded as a flag.
 */

/** Something other than a letter or digit precedes this unit. */
export const afterGap = 1;
/** A quotation mark precedes this unit. */
export const afterQuote = 2;
/** An ellipsis precedes this unit: something was cut out. */
export const afterCut = 4;
/** This unit begins a string. */
export const startsString = 8;

const boundary = 0xffff;
const backslash = 92;
const escapedEntity = /&(?:amp;)*(?:quot|apos|lt|gt|nbsp|amp|hellip|[lr][sd]quo|#(\d{1,7})|#x([0-9a-f]{1,6}));/iy;
const percent = /(?:%(?:25)*[0-9a-f]{2})+/iy;

export class NormalizedText {
  units: Uint16Array;
  flags: Uint8Array;
  /** Where in its text each unit begins. */
  from: Int32Array;
  length = 0;
  private flag = 0;

  constructor(capacity: number) {
    this.units = new Uint16Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.from = new Int32Array(capacity);
  }

  /** Adds the characters of `text` from `start` to `end`. */
  add(text: string, start: number, end: number, flags: number): void {
    if (this.length + end - start > this.units.length) this.grow(this.length + end - start);
    this.flag = flags;
    let i = start;
    while (i < end) {
      const code = text.charCodeAt(i);
      if (code < 128) {
        const letter = letters[code]!;
        if (letter !== 0) this.push(letter, i++);
        else i = this.punctuation(text, i, end, code);
      } else {
        this.foreign(code, i++);
      }
    }
  }

  /** The units as text, with a space for each gap, to look words up in. */
  spacedText(): string {
    const { units, flags, length } = this;
    const out = new Uint16Array(length * 2);
    let count = 0;
    for (let i = 0; i < length; i++) {
      if (flags[i] !== 0) out[count++] = 32;
      out[count++] = units[i]!;
    }
    return Buffer.from(out.buffer, 0, count * 2).toString('utf16le');
  }

  /** Adds a unit that no text contains, so that no match crosses it. */
  addBoundary(): void {
    if (this.length === this.units.length) this.grow(this.length + 1);
    this.flag = 0;
    this.push(boundary, -1);
  }

  private grow(needed: number): void {
    const { units, flags, from } = this;
    const capacity = Math.max(needed, units.length * 2);
    this.units = new Uint16Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.from = new Int32Array(capacity);
    this.units.set(units);
    this.flags.set(flags);
    this.from.set(from);
  }

  private push(unit: number, position: number): void {
    const at = this.length++;
    this.units[at] = unit;
    this.flags[at] = this.flag;
    this.from[at] = position;
    this.flag = 0;
  }

  /** Latin letters with accents are dropped: printed in the wrong encoding, they become other letters. */
  private foreign(code: number, position: number): void {
    if (code >= 0xff21 && code <= 0xff5a) {
      const letter = letters[code - 0xfee0]!;
      if (letter !== 0) this.push(letter, position);
    } else if (code < 0x250) {
      // Neither compared nor a gap between two words.
    } else if (isPunctuation(code)) {
      this.flag |= code === 0x2026 ? afterGap | afterCut : afterGap;
      if (code === 0x201c || code === 0x201d) this.flag |= afterQuote;
    } else if (code < 0x530) {
      this.push(String.fromCharCode(code).toLowerCase().charCodeAt(0), position);
    } else {
      this.push(code, position);
    }
  }

  private punctuation(text: string, i: number, end: number, code: number): number {
    this.flag |= afterGap;
    if (code === backslash) return this.escape(text, i, end);
    if (code === 38) return this.entity(text, i);
    if (code === 37) return this.percentEncoded(text, i);
    const isQuote = code === 34 || code === 96 || (code === 39 && !isApostrophe(text, i));
    if (isQuote) this.flag |= afterQuote;
    else if (code === 46 && text.startsWith('..', i + 1)) this.flag |= afterCut;
    return i + 1;
  }

  /** Skips backslashes, however often doubled, and decodes the escape that follows. */
  private escape(text: string, i: number, end: number): number {
    let next = i + 1;
    while (next < end && text.charCodeAt(next) === backslash) next++;
    const letter = next < end ? text[next]! : '';
    if (letter !== '' && 'nrtbfv'.includes(letter)) return next + 1;
    const digits = letter === 'u' ? 4 : letter === 'x' ? 2 : letter === 'U' ? 8 : 0;
    const hex = digits === 0 ? '' : text.slice(next + 1, next + 1 + digits);
    if (hex.length !== digits || digits === 0 || !/^[0-9a-f]+$/i.test(hex)) return next;
    this.decoded(Number.parseInt(hex, 16), i);
    return next + 1 + digits;
  }

  private entity(text: string, i: number): number {
    escapedEntity.lastIndex = i;
    const found = escapedEntity.exec(text);
    if (!found) return i + 1;
    const [whole, decimal, hex] = found;
    if (decimal !== undefined) this.decoded(Number(decimal), i);
    else if (hex !== undefined) this.decoded(Number.parseInt(hex, 16), i);
    else if (/quo|apos/i.test(whole)) this.flag |= afterQuote;
    else if (/hellip/i.test(whole)) this.flag |= afterCut;
    return i + whole.length;
  }

  private percentEncoded(text: string, i: number): number {
    percent.lastIndex = i;
    const found = percent.exec(text);
    if (!found) return i + 1;
    const bytes = found[0].match(/[0-9a-f]{2}(?=%|$)/gi) ?? [];
    const plain = Buffer.from(bytes.join(''), 'hex').toString('utf8');
    for (const character of plain) this.decoded(character.codePointAt(0)!, i);
    return i + found[0].length;
  }

  private decoded(code: number, position: number): void {
    if (code < 128) {
      const letter = letters[code]!;
      if (letter !== 0) this.push(letter, position);
      else this.flag |= code === 34 || code === 39 || code === 96 ? afterGap | afterQuote : afterGap;
    } else if (code <= 0xffff) {
      this.foreign(code, position);
    }
  }
}

const letters = new Uint8Array(128);
for (let code = 48; code <= 57; code++) letters[code] = code;
for (let code = 97; code <= 122; code++) {
  letters[code] = code;
  letters[code - 32] = code;
}

/** One word as it appears in a normalized text. */
export function normalizedWord(word: string): string {
  if (/^[a-z0-9]*$/i.test(word)) return word.toLowerCase();
  const normalized = new NormalizedText(word.length);
  normalized.add(word, 0, word.length, 0);
  return String.fromCharCode(...normalized.units.subarray(0, normalized.length));
}

function isApostrophe(text: string, at: number): boolean {
  return isLetter(text.charCodeAt(at - 1)) && isLetter(text.charCodeAt(at + 1));
}

function isLetter(code: number): boolean {
  return code < 128 && letters[code] !== 0;
}

function isPunctuation(code: number): boolean {
  return (
    (code >= 0x2000 && code <= 0x2bff) ||
    (code >= 0x3000 && code <= 0x303f) ||
    (code >= 0xd800 && code <= 0xf8ff) ||
    code >= 0xfe00
  );
}
