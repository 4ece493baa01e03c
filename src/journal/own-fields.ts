/** What differs from record to record, read off a record's bytes, and the bytes that it has in common with others of its kind. */
import { escapeText, noValue } from '../domain/settlement-row.js';
import { double, integer, text } from './frames.js';
import { field, part } from './record.js';

/** A record that has more in common with others is read whole. */
const commonMax = 4_096;
const [comma, quote, bracket, closing] = [...Buffer.from(',"[]')] as [number, number, number, number];
/** A hash is so many characters of base64url. */
const hashLength = 43;
const separator = '","';
const twoHashes = new RegExp(`^[\\w-]{${hashLength}}${separator}[\\w-]{${hashLength}}$`);
/** The hash of the project's policy at the end of a proof, a list of its own. */
const projectLength = ',["'.length + hashLength + '"]'.length;
/** Holes that every line has: ids, time, tokens, cost, latency, first byte; and at its end the two amounts of an own credential. */
const fixedHoles = 10;
const holesAtEnd = 2;

export class OwnFields {
  id = '';
  #requestId = '';
  createdAt = 0;
  promptTokens = 0;
  completionTokens = 0;
  cachedTokens = 0;
  reasoningTokens = 0;
  /** A text beyond the exact numbers. */
  cost: number | string = 0;
  latencyMs = 0;
  firstByteMs: number | null = null;
  bodyHashes: string | null = null;
  /** Of what an own credential has served: its list price, and what budgets count. */
  notional: number | string | null = null;
  counted: number | string | null = null;
  /** The times of attempts, then the counts of the bill. */
  readonly #others: number[] = [];
  readonly #common = Buffer.allocUnsafeSlow(commonMax);
  #size = 0;

  /** Takes the fields between two places. The rest as a text of one character a byte; null where the record has to be read whole. */
  read(bytes: Buffer, from: number, end: number): string | null {
    this.#clear();
    if (end - from > commonMax) return null;
    let at = from;
    while (at < end) {
      const start = at;
      const key = bytes[at++]!;
      const type = key & 3;
      let value = 0;
      if (type === double) {
        if (at + 8 > end) return null;
        value = bytes.readDoubleLE(at);
        if (!Number.isFinite(value)) return null;
        at += 8;
      } else if (type === integer || type === text) {
        for (let scale = 1; ; scale *= 128) {
          const byte = bytes[at++]!;
          value += (byte & 127) * scale;
          if (byte < 128) break;
        }
      }
      if (type === text) {
        const textAt = at;
        at += value;
        if (at > end) return null;
        if (this.#takeText(key >> 2, bytes, textAt, at)) this.#common[this.#size++] = key;
        else if (key >> 2 === field.proof) this.#copyProof(bytes, start, textAt, at);
        else this.#copy(bytes, start, at);
      } else if (this.#takeNumber(key >> 2, value)) this.#common[this.#size++] = key;
      else this.#copy(bytes, start, at);
    }
    return at === end && this.id !== '' ? this.#common.toString('latin1', 0, this.#size) : null;
  }

  /** The line whose text before, between and behind these fields is given; null where they are not as many. */
  lineOf(pieces: readonly string[]): string | null {
    const others = this.#others;
    let next = fixedHoles + others.length;
    if (pieces.length !== next + (this.bodyHashes === null ? 1 : 2) + holesAtEnd) return null;
    let line =
      `${pieces[0]}${escapeText(this.id)}${pieces[1]}${this.cost}${pieces[2]}${escapeText(this.#requestId)}` +
      `${pieces[3]}${this.createdAt}${pieces[4]}${this.promptTokens}${pieces[5]}${this.completionTokens}` +
      `${pieces[6]}${this.cachedTokens}${pieces[7]}${this.reasoningTokens}${pieces[8]}${this.latencyMs}` +
      `${pieces[9]}${this.firstByteMs ?? noValue}${pieces[fixedHoles]}`;
    for (let i = 0; i < others.length; i++) line += `${others[i]}${pieces[fixedHoles + 1 + i]}`;
    if (this.bodyHashes !== null) line += `${this.bodyHashes}${pieces[++next]}`;
    return `${line}${this.notional ?? noValue}${pieces[next + 1]}${this.counted ?? noValue}${pieces[next + 2]}`;
  }

  #clear(): void {
    this.id = '';
    this.#requestId = '';
    this.createdAt = 0;
    this.promptTokens = 0;
    this.completionTokens = 0;
    this.cachedTokens = 0;
    this.reasoningTokens = 0;
    this.cost = 0;
    this.latencyMs = 0;
    this.firstByteMs = null;
    this.bodyHashes = null;
    this.notional = null;
    this.counted = null;
    this.#others.length = 0;
    this.#size = 0;
  }

  /** False where the field is not one of these. */
  #takeNumber(number: number, value: number): boolean {
    // biome-ignore format: one line for each field.
    switch (number) {
      case field.createdAt: this.createdAt = value; return true;
      case field.promptTokens: this.promptTokens = value; return true;
      case field.completionTokens: this.completionTokens = value; return true;
      case field.cachedTokens: this.cachedTokens = value; return true;
      case field.reasoningTokens: this.reasoningTokens = value; return true;
      case field.costPico: this.cost = value; return true;
      case field.notionalPico: this.notional = value; return true;
      case field.countedPico: this.counted = value; return true;
      case field.latencyMs: this.latencyMs = value; return true;
      case field.firstByteMs: this.firstByteMs = value; return true;
      case part.attemptFirstByteMs:
      case part.lineCount: this.#others.push(value); return true;
      default: return false;
    }
  }

  #takeText(number: number, bytes: Buffer, start: number, end: number): boolean {
    // biome-ignore format: one line for each field.
    switch (number) {
      case field.id: this.id = bytes.toString('utf8', start, end); return true;
      case field.requestId: this.#requestId = bytes.toString('utf8', start, end); return true;
      case field.costPico: this.cost = bytes.toString('utf8', start, end); return true;
      case field.notionalPico: this.notional = bytes.toString('latin1', start, end); return true;
      case field.countedPico: this.counted = bytes.toString('latin1', start, end); return true;
      default: return false;
    }
  }

  /** Copies a proof but for the hashes of the bodies. `textAt` is where its text begins. */
  #copyProof(bytes: Buffer, start: number, textAt: number, end: number): void {
    const hashesAt = hashesIn(bytes, textAt, end);
    const hashesEnd = hashesAt + 2 * hashLength + separator.length;
    const hashes = hashesAt === -1 ? '' : bytes.toString('latin1', hashesAt, hashesEnd);
    if (!twoHashes.test(hashes)) {
      this.#copy(bytes, start, end);
      return;
    }
    this.bodyHashes = hashes;
    this.#copy(bytes, start, hashesAt);
    this.#copy(bytes, hashesEnd, end);
  }

  #copy(bytes: Buffer, start: number, end: number): void {
    const common = this.#common;
    let size = this.#size;
    for (let at = start; at < end; at++) common[size++] = bytes[at]!;
    this.#size = size;
  }
}

/** Where the two hashes at the end of a proof may begin; -1 where it does not look so. */
function hashesIn(bytes: Buffer, start: number, end: number): number {
  let last = end - 2;
  if (bytes[last] === closing && bytes[end - 1] === closing) {
    const project = end - 1 - projectLength;
    if (bytes[project] !== comma || bytes[project + 1] !== bracket) return -1;
    last = project - 1;
  }
  const at = last - 2 * hashLength - separator.length;
  return at > start && bytes[last] === quote && bytes[at - 1] === quote && bytes[at - 2] === comma ? at : -1;
}
