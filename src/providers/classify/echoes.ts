/**
 * Finds the parts of a provider's error that repeat strings of the request. It indexes runs of eight letters or digits of the
 * error and reads the request once, so that the time is linear in both lengths.
 */

import { afterCut, afterGap, afterQuote, NormalizedText, startsString } from './normalized-text.js';
import type { SentStrings } from './sent-strings.js';

const runMin = 8;
/**
 * The least length of a partial match without quotes or an ellipsis around it; shorter ones may be ordinary words. Providers cut
 * strings at the end more often than at the beginning, and a cut inside a word is a strong sign of a copy.
 */
const partMin = { insideWord: 12, beginning: 16, end: 24 };
/** The limit of comparisons, plus some per letter of the request. A text that needs more is built to be slow. */
const stepsMax = 500_000;
const stepsPerUnit = 4;
const errorUnitsMax = 64 * 1024;
/** Beyond this many words, each is assumed to decide. */
const wordsCheckedMax = 100;
const boundaryUnit = 0xffff;

export interface Leaf {
  readonly text: string;
  readonly isCode: boolean;
}

/** The part of a request string that a run matches. */
interface Part {
  readonly begins: boolean;
  readonly ends: boolean;
  /** One of its ends is inside a word. */
  readonly isCut: boolean;
}

export class Echoes {
  /** The search stopped at its limit: any part of the error may be an echo. */
  exhausted = false;
  private readonly error: NormalizedText;
  /** Where each leaf ends in `error`. */
  private readonly ends: number[] = [];
  private readonly leafOf: Uint16Array;
  private readonly covered: Uint8Array;
  private readonly checked = new Map<string, boolean>();
  private steps = 0;

  constructor(
    private readonly leaves: readonly Leaf[],
    sent: SentStrings,
    /** Whether a single word means a failure of the route. A word that does not may be the provider's own. */
    private readonly decidesAlone: (word: string) => boolean,
  ) {
    this.error = new NormalizedText(leaves.reduce((sum, { text }) => sum + text.length + 1, 0));
    for (const { text } of leaves) {
      if (this.error.length < errorUnitsMax) this.error.add(text, 0, text.length, afterGap);
      this.error.addBoundary();
      this.ends.push(this.error.length);
    }
    this.covered = new Uint8Array(this.error.length);
    this.leafOf = new Uint16Array(this.error.length);
    for (const [leaf, end] of this.ends.entries()) this.leafOf.fill(leaf, this.ends[leaf - 1] ?? 0, end);
    if (sent.normalized.length >= runMin && this.error.length > runMin) this.search(sent.normalized);
  }

  /** A text without the parts that repeat the request. */
  without(text: string): string {
    const leaf = this.leaves.findIndex((one) => one.text === text);
    if (leaf < 0) return text;
    const { covered } = this;
    const last = this.ends[leaf]! - 1;
    let own = '';
    let from = 0;
    for (let i = this.ends[leaf - 1] ?? 0; i < last; i++) {
      if (covered[i] === 0) continue;
      const start = this.error.from[i]!;
      while (i + 1 < last && covered[i + 1] === 1) i++;
      own += `${text.slice(from, start)} `;
      from = this.endOf(i, text);
    }
    return own + text.slice(from);
  }

  private search(sent: NormalizedText): void {
    const index = new GramIndex(this.error);
    const { units, flags, length } = sent;
    const stepsLeft = stepsMax + stepsPerUnit * length;
    let stringAt = 0;
    let hash = 0;
    for (let i = 0; i < length; i++) {
      if ((flags[i]! & startsString) !== 0) {
        stringAt = i;
        hash = 0;
      }
      hash = i - stringAt < runMin ? hashWith(hash, units[i]!) : rollHash(hash, units[i - runMin]!, units[i]!);
      if (i - stringAt < runMin - 1) continue;
      for (let at = index.first(hash); at >= 0; at = index.next[at]!) {
        this.compare(sent, stringAt, i - runMin + 1, at);
        if (this.steps > stepsLeft) {
          this.exhausted = true;
          return;
        }
      }
    }
  }

  /** Compares one position of the request with one of the error. A run that begins earlier was compared from there. */
  private compare(sent: NormalizedText, stringAt: number, sentAt: number, at: number): void {
    const { units: own, length } = this.error;
    const { units, flags } = sent;
    this.steps++;
    if (sentAt > stringAt && at > 0 && units[sentAt - 1] === own[at - 1]) return;
    let run = 0;
    while (at + run < length && sentAt + run < sent.length && units[sentAt + run] === own[at + run]) {
      if (run > 0 && (flags[sentAt + run]! & startsString) !== 0) break;
      run++;
    }
    this.steps += run;
    if (run < runMin) return;
    const ends = sentAt + run === sent.length || (flags[sentAt + run]! & startsString) !== 0;
    const isCut = (sentAt > stringAt && flags[sentAt] === 0) || (!ends && flags[sentAt + run] === 0);
    const part: Part = { begins: sentAt === stringAt, ends, isCut };
    if (this.isEcho(at, at + run, part)) this.covered.fill(1, at, at + run);
  }

  private isEcho(from: number, to: number, { begins, ends, isCut }: Part): boolean {
    const { flags, units } = this.error;
    const closing = units[to] === boundaryUnit ? afterGap : flags[to]!;
    if (this.leaves[this.leafOf[from]!]!.isCode) {
      const isWhole = (from === 0 || units[from - 1] === boundaryUnit) && units[to] === boundaryUnit;
      return isWhole && begins && ends;
    }
    const isQuoted = (flags[from]! & closing & afterQuote) !== 0;
    if (begins && ends) {
      if (flags[from] === 0 || closing === 0) return false;
      return isQuoted || !this.isOneWord(from, to) || this.decides(this.textOf(from, to));
    }
    const isShownAsCut = ((flags[from]! | closing) & afterCut) !== 0;
    if (!begins && !ends) return isShownAsCut && to - from >= partMin.insideWord;
    if (isShownAsCut || ((flags[from]! | closing) & afterQuote) !== 0) return true;
    if ((begins ? flags[from] : closing) === 0) return false;
    return to - from >= (isCut ? partMin.insideWord : begins ? partMin.beginning : partMin.end);
  }

  private isOneWord(from: number, to: number): boolean {
    const { flags } = this.error;
    for (let i = from + 1; i < to; i++) if (flags[i] !== 0) return false;
    return true;
  }

  private textOf(from: number, to: number): string {
    return String.fromCharCode(...this.error.units.subarray(from, Math.min(to, from + 200)));
  }

  private decides(word: string): boolean {
    let decides = this.checked.get(word);
    if (decides === undefined) {
      decides = this.checked.size >= wordsCheckedMax || this.decidesAlone(word);
      this.checked.set(word, decides);
    }
    return decides;
  }

  /** Where a letter ends in its text; an escaped letter extends to the next one. */
  private endOf(at: number, text: string): number {
    const { from, units } = this.error;
    if (!/[\\&%]/.test(text[from[at]!]!)) return from[at]! + 1;
    return units[at + 1] === boundaryUnit ? text.length : Math.max(from[at + 1]!, from[at]! + 1);
  }
}

const base = 0x01000193;
let leading = 1;
for (let i = 1; i < runMin; i++) leading = Math.imul(leading, base);

function hashWith(hash: number, unit: number): number {
  return (Math.imul(hash, base) + unit) | 0;
}

function rollHash(hash: number, oldest: number, unit: number): number {
  return hashWith((hash - Math.imul(oldest, leading)) | 0, unit);
}

/** Where each run of eight units begins, by its hash. */
class GramIndex {
  readonly next: Int32Array;
  private readonly heads: Int32Array;
  private readonly shift: number;

  constructor({ units, length }: NormalizedText) {
    const bits = Math.max(10, Math.ceil(Math.log2(length * 4)));
    this.shift = 32 - bits;
    this.heads = new Int32Array(1 << bits).fill(-1);
    this.next = new Int32Array(length).fill(-1);
    let hash = 0;
    for (let i = 0; i < length; i++) {
      hash = i < runMin ? hashWith(hash, units[i]!) : rollHash(hash, units[i - runMin]!, units[i]!);
      if (i < runMin - 1) continue;
      const slot = this.slotOf(hash);
      this.next[i - runMin + 1] = this.heads[slot]!;
      this.heads[slot] = i - runMin + 1;
    }
  }

  first(hash: number): number {
    return this.heads[this.slotOf(hash)]!;
  }

  private slotOf(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.shift;
  }
}
