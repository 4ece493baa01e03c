/** Scans objects of which only some members have rules (`json-scanner.ts`). Whatever is unusual is left to the parser. */
import type { JsonScanner, SeenNames } from './json-scanner.js';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;

/** Moves behind a value and returns bits that say what it is; -1 where it is unusual. `levels` is how deep it may be nested. */
export type ValueScan = (json: JsonScanner, levels: number) => number;

/** Which members without a rule an object may have. Those in lower case are no other spelling of one with a rule. */
type OtherNames = 'any' | 'lowerCase' | 'none';

/** Names without which an object is unusual. */
type Names = readonly string[];

/** Scans an object by rules for its members. Members without a rule may have any value. There is one class of them, as V8 likes it best. */
export class ObjectScan {
  private readonly names: readonly string[];
  private readonly rules: readonly ValueScan[];
  private readonly needed: number;
  private readonly neededBy: readonly (number | undefined)[] | null;

  /** At most 31 rules. With `needsBy` the bits of all members together are a place in that list. */
  constructor(
    rules: Readonly<Record<string, ValueScan>>,
    private readonly others: OtherNames = 'any',
    needs: Names = [],
    needsBy: readonly (Names | undefined)[] | null = null,
  ) {
    this.names = Object.keys(rules);
    this.rules = Object.values(rules);
    this.needed = this.bitsOf(needs);
    this.neededBy = needsBy?.map((names) => names && this.bitsOf(names)) ?? null;
  }

  /** The bits of all members; -1 where one is unusual or missing, or one with a rule comes twice. */
  readonly scan: ValueScan = (json, levels) => {
    if (levels <= 0 || !json.take(openBrace)) return -1;
    if (json.take(closeBrace)) return this.resultOf(0, 0);
    let bits = 0;
    let seen = 0;
    for (;;) {
      const key = json.takeKey();
      if (key === -1) return -1;
      const index = json.indexAt(this.names, key, json.keyEnd);
      if (index === -1) {
        if (!this.takesName(json, key) || !json.skipValue(levels - 1)) return -1;
      } else {
        if ((seen & (1 << index)) !== 0) return -1;
        seen |= 1 << index;
        const found = this.rules[index]!(json, levels - 1);
        if (found === -1) return -1;
        bits |= found;
      }
      const next = json.takeNext(closeBrace);
      if (next !== 'more') return next === 'end' ? this.resultOf(bits, seen) : -1;
    }
  };

  /** `seen` has a bit for each rule whose member is there. */
  private resultOf(bits: number, seen: number): number {
    if (this.neededBy === null) return (seen & this.needed) === this.needed ? bits : -1;
    const needed = this.neededBy[bits];
    return needed !== undefined && (seen & needed) === needed ? 0 : -1;
  }

  private bitsOf(names: Names): number {
    return names.reduce((bits, name) => bits | (1 << this.names.indexOf(name)), 0);
  }

  private takesName(json: JsonScanner, start: number): boolean {
    return this.others === 'any' || (this.others === 'lowerCase' && json.isLowerCase(start, json.keyEnd));
  }
}

/** An array with at least one entry, and the bits of all entries. */
export function scanEntries(json: JsonScanner, levels: number, scanEntry: ValueScan): number {
  if (levels <= 0 || !json.take(openBracket)) return -1;
  let bits = 0;
  for (;;) {
    const found = scanEntry(json, levels - 1);
    if (found === -1) return -1;
    bits |= found;
    const next = json.takeNext(closeBracket);
    if (next !== 'more') return next === 'end' ? bits : -1;
  }
}

/**
 * Scans a whole text, which is one object whose members come once each. A member's value begins at `json.at`, and ends where `json.peek()`
 * then is. Returns where the object's closing brace is, or -1.
 */
export function scanWhole(json: JsonScanner, names: SeenNames, scanMember: (name: string) => boolean): number {
  names.clear();
  if (!json.take(openBrace)) return -1;
  for (;;) {
    const key = json.takeKey();
    if (key === -1) return -1;
    const name = json.text.slice(key, json.keyEnd);
    if (!names.add(name) || !scanMember(name)) return -1;
    const next = json.takeNext(closeBrace);
    if (next === 'more') continue;
    const end = json.at - 1;
    return next === 'end' && json.isAtEnd() ? end : -1;
  }
}

export function takeText(json: JsonScanner): boolean {
  return json.peek() === quote && json.skipString();
}

export function takeObject(json: JsonScanner, levels: number): boolean {
  return json.peek() === openBrace && json.skipValue(levels);
}

export function takeBoolean(json: JsonScanner): boolean {
  json.peek();
  return json.takeWord('true') || json.takeWord('false');
}

/** An array of strings, which may be empty. Returns how many there are, or -1. */
export function takeTexts(json: JsonScanner): number {
  if (!json.take(openBracket)) return -1;
  if (json.take(closeBracket)) return 0;
  for (let count = 1; ; count++) {
    if (!takeText(json)) return -1;
    const next = json.takeNext(closeBracket);
    if (next !== 'more') return next === 'end' ? count : -1;
  }
}

/** A rule for a usual member that may be anything. */
export const anyValue: ValueScan = (json, levels) => (json.skipValue(levels) ? 0 : -1);

/** A rule for a member that is left to the parser. */
export const unusual: ValueScan = () => -1;

/** A rule that takes a string only. */
export const aText =
  (bit: number): ValueScan =>
  (json) =>
    takeText(json) ? bit : -1;

/** A rule that takes a string that is not empty. */
export const someText =
  (bit: number): ValueScan =>
  (json) =>
    json.peek() === quote && !json.takeWord('""') && json.skipString() ? bit : -1;

/** A rule that takes a string without escapes that is not empty. */
export const plainText =
  (bit: number): ValueScan =>
  (json) => {
    const start = json.takePlainString();
    return start === -1 || start === json.at - 1 ? -1 : bit;
  };

/** A rule that takes an object only. */
export const anObject =
  (bit: number): ValueScan =>
  (json, levels) =>
    takeObject(json, levels) ? bit : -1;

/** A rule that takes one of some names, each with its own bits. */
export function oneOf(bitsByName: Readonly<Record<string, number>>): ValueScan {
  const names = Object.keys(bitsByName);
  const bits = Object.values(bitsByName);
  return (json) => {
    const start = json.takePlainString();
    if (start === -1) return -1;
    const index = json.indexAt(names, start, json.at - 1);
    return index === -1 ? -1 : bits[index]!;
  };
}
