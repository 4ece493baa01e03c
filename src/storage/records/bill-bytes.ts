/**
 * Writes the columns that the API shows of a stored bill (`domain/bill-json.ts`) straight from its text in the row. An export does this
 * for every row, so it makes no objects and uses no big integers. Bills that are not of the usual form take the way of the API.
 */
import { usdText } from '../../base/money.js';
import { billJson, usageJson } from '../../domain/bill-json.js';
import { type CostClass, costClasses, costClassOf, readBill, unitOf } from '../../wire/cost.js';
import { type Phrase, phraseOf, writeInteger, writePhrase, writePico } from './export-values.js';

/** The columns that take the place of the bill. */
export const billColumns = ['service_tier', 'usage', 'cost_details', 'cost_lines', 'notional_cost_details'].map(
  (name) => ({ name, type: 'text' as const }),
);

/** The bill of what a customer's own credential has paid for, as the row has it: with the fee in pico-dollars in front. */
export const ownBillSql = (bill: string, feePico: string): string => `'fee ' || ${feePico} || ' ' || ${bill}`;
const ownBill = /^fee (\d+) /;

/** How a JSON text stands in a line: what is around it, and what is written for each of its quotes. */
const styles = {
  plain: { around: '', quote: '"', encode: (json: string) => json },
  json: { around: '"', quote: '\\"', encode: (json: string) => JSON.stringify(json) },
  csv: { around: '"', quote: '""', encode: (json: string) => `"${json.replaceAll('"', '""')}"` },
} as const;
export type BillStyle = keyof typeof styles;

/** The columns of tokens that the usage repeats, in the order of `tokens`. */
export const tokenColumns = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'];

/** Counts that the usage has from the lines of the bill. */
const countedLines = ['cache_write', 'cache_write_1h', 'input_audio', 'input_image', 'output_audio', 'output_image'];

/** A line of a bill without its count. There are as many as the catalogue has prices. */
interface KnownLine {
  readonly name: Uint8Array;
  readonly pico: number;
  /** The place among `costClasses`, or -1. */
  readonly place: number;
  /** The place among `countedLines`, or -1. */
  readonly counted: number;
  /** What stands before the count, and between the count and the cost. */
  readonly lead: Phrase;
  readonly middle: Phrase;
}

const knownMax = 1 << 12;
const linesMax = 64;
const [quote, comma, bracket] = [0x22, 0x2c, 0x5d];
const ascii = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const billStart = ascii('{"lines":[');
const lineStart = ascii('["');
const tierStart = ascii('],"tier":"');
/** 1 for the characters of names that no style escapes. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[\w.-]/.test(String.fromCharCode(byte))));
/** Products of larger numbers are not exact in any case. */
const digitsMax = 15;

/** The most that a bill of this length becomes. A line has at least eleven bytes, and becomes ten times as many. */
export const billBytesMax = (length: number): number => 1_200 + 16 * Math.max(length, 0);

/** A buffer to write into, twice. It is longer than the bill by `wordRest`. */
export interface Target {
  readonly buffer: Buffer;
  readonly view: DataView;
}

export class BillBytes {
  /** To be set before the usage is written, in the order of `tokenColumns`. */
  readonly tokens = new Float64Array(tokenColumns.length);
  readonly #style: (typeof styles)[BillStyle];
  readonly #known: (KnownLine | undefined)[] = new Array(knownMax);
  readonly #usage: readonly Phrase[];
  readonly #classes: readonly Phrase[];
  readonly #tierLead: Phrase;
  readonly #costEnd: Phrase;
  readonly #around: Phrase;
  readonly #quote: Phrase;

  /** The tier of the bill that was read last. */
  hasTier = false;
  tierBytes: Buffer = Buffer.alloc(0);
  tierFrom = 0;
  tierTo = 0;
  #row: Buffer = this.tierBytes;
  #isThere = false;
  #lineCount = 0;
  readonly #lines: KnownLine[] = [];
  readonly #counts = new Float64Array(linesMax);
  readonly #sums = new Float64Array(costClasses.length);
  readonly #counted = new Float64Array(countedLines.length);
  /** The texts of a bill that is not of the usual form, behind the tier. */
  #exact: readonly string[] | null = null;
  /** The bill has a fee, and its lines are those of the list price. */
  #isOwn = false;
  /** Where reading stands. */
  #at = 0;

  constructor(style: BillStyle) {
    this.#style = styles[style];
    const phrase = (json: string) => this.#phrase(json);
    this.#usage = [
      ...['{"prompt_tokens":', ',"completion_tokens":', ',"total_tokens":'],
      ...[',"prompt_tokens_details":{"cached_tokens":', ',"cache_write_tokens":', ',"cache_write_1h_tokens":'],
      ...[',"audio_tokens":', ',"image_tokens":', '},"completion_tokens_details":{"reasoning_tokens":'],
      ...[',"audio_tokens":', ',"image_tokens":', '}}'],
    ].map(phrase);
    this.#classes = costClasses.map((name) => phrase(`"${name}":"`));
    this.#tierLead = phrase('"tier":"');
    this.#costEnd = phrase('"}');
    this.#around = phraseOf(this.#style.around);
    this.#quote = phraseOf(this.#style.quote);
  }

  #phrase(json: string): Phrase {
    return phraseOf(json.replaceAll('"', this.#style.quote));
  }

  /** Takes the bill of a row, where `length` is -1 if it has none. What the row holds must stay until the columns are written. */
  read(row: Buffer, from: number, length: number): void {
    this.#row = row;
    this.#isThere = length >= 0;
    this.#exact = null;
    this.#isOwn = false;
    this.#lineCount = 0;
    this.hasTier = false;
    this.tierBytes = row;
    this.#sums.fill(-1);
    this.#counted.fill(0);
    if (this.#isThere && !this.#readPlain(from, from + length))
      this.#readExact(row.toString('utf8', from, from + length));
  }

  /** Whether a column has a value, by its place in `billColumns`. */
  has(place: number): boolean {
    if (place === 4) return this.#isOwn;
    return place === 0 ? this.hasTier : place === 1 || this.#isThere;
  }

  /** Writes a column behind the tier, as JSON text in the style. Returns where the next byte goes. */
  write(place: number, target: Target, at: number): number {
    if (this.#exact !== null) return at + target.buffer.write(this.#exact[place - 1]!, at);
    let next = writePhrase(target.view, at, this.#around);
    if (place === 1) next = this.#writeUsage(target, next);
    else next = place === 2 ? this.#writeDetails(target, next) : this.#writeLines(target, next);
    return writePhrase(target.view, next, this.#around);
  }

  #writeUsage({ buffer, view }: Target, start: number): number {
    const [usage, tokens, counted] = [this.#usage, this.tokens, this.#counted];
    let at = start;
    for (let i = 0; i < usage.length; i++) {
      at = writePhrase(view, at, usage[i]!);
      if (i < 2) at = writeInteger(buffer, at, tokens[i]!);
      else if (i === 2) at = writeInteger(buffer, at, tokens[0]! + tokens[1]!);
      else if (i === 3) at = writeInteger(buffer, at, tokens[2]!);
      else if (i < 8) at = writeInteger(buffer, at, counted[i - 4]!);
      else if (i === 8) at = writeInteger(buffer, at, tokens[3]!);
      else if (i < 11) at = writeInteger(buffer, at, counted[i - 5]!);
    }
    return at;
  }

  #writeDetails({ buffer, view }: Target, start: number): number {
    const sums = this.#sums;
    let at = start;
    buffer[at++] = 0x7b;
    for (let i = 0; i < sums.length; i++) {
      if (sums[i]! < 0) continue;
      if (at > start + 1) buffer[at++] = comma;
      at = writePico(buffer, writePhrase(view, at, this.#classes[i]!), sums[i]!);
      at = writePhrase(view, at, this.#quote);
    }
    if (this.hasTier) {
      if (at > start + 1) buffer[at++] = comma;
      at = writePhrase(view, at, this.#tierLead);
      for (let i = this.tierFrom; i < this.tierTo; i++) buffer[at++] = this.tierBytes[i]!;
      at = writePhrase(view, at, this.#quote);
    }
    buffer[at++] = 0x7d;
    return at;
  }

  #writeLines({ buffer, view }: Target, start: number): number {
    let at = start;
    buffer[at++] = 0x5b;
    for (let i = 0; i < this.#lineCount; i++) {
      const { lead, middle, pico } = this.#lines[i]!;
      const count = this.#counts[i]!;
      if (i > 0) buffer[at++] = comma;
      at = writePhrase(view, writeInteger(buffer, writePhrase(view, at, lead), count), middle);
      at = writePhrase(view, writePico(buffer, at, count * pico), this.#costEnd);
    }
    buffer[at++] = bracket;
    return at;
  }

  /** False where the bill is not of the form that `billText` writes, or has numbers that are not exact. */
  #readPlain(from: number, to: number): boolean {
    this.#at = from;
    if (!this.#skip(billStart)) return false;
    while (this.#row[this.#at] === 0x5b || this.#row[this.#at] === comma) {
      if (this.#row[this.#at] === comma) this.#at++;
      if (this.#lineCount === linesMax || !this.#readLine()) return false;
    }
    if (this.#row[this.#at + 1] !== comma) return this.#row[this.#at++] === bracket && this.#ends(to);
    if (!this.#skip(tierStart)) return false;
    this.tierFrom = this.#at;
    while (plain[this.#row[this.#at]!] === 1) this.#at++;
    this.tierTo = this.#at;
    this.hasTier = true;
    return this.tierTo > this.tierFrom && this.#row[this.#at++] === quote && this.#ends(to);
  }

  #ends(to: number): boolean {
    return this.#row[this.#at] === 0x7d && this.#at + 1 === to;
  }

  /** A line such as `["input",120,"600000"]`. */
  #readLine(): boolean {
    if (!this.#skip(lineStart)) return false;
    const row = this.#row;
    const from = this.#at;
    let to = from;
    let hash = 0;
    while (plain[row[to]!] === 1) hash = (Math.imul(hash, 31) + row[to++]!) | 0;
    if (to === from || row[to] !== quote || row[to + 1] !== comma) return false;
    this.#at = to + 2;
    const count = this.#readNumber();
    if (count < 0 || row[this.#at] !== comma || row[this.#at + 1] !== quote) return false;
    this.#at += 2;
    const rate = this.#readNumber();
    if (rate < 0 || row[this.#at] !== quote || row[this.#at + 1] !== bracket) return false;
    this.#at += 2;
    return this.#addLine(this.#lineOf(from, to, rate, (Math.imul(hash, 31) + (rate | 0)) & (knownMax - 1)), count);
  }

  #addLine(line: KnownLine, count: number): boolean {
    const { place, counted } = line;
    const cost = count * line.pico;
    if (place >= 0) this.#sums[place] = Math.max(this.#sums[place]!, 0) + cost;
    if (counted >= 0) this.#counted[counted]! += count;
    this.#lines[this.#lineCount] = line;
    this.#counts[this.#lineCount++] = count;
    // Above 2^53 pico-dollars, which are about 9,000 dollars, numbers are not exact.
    return cost <= Number.MAX_SAFE_INTEGER && (place < 0 || this.#sums[place]! <= Number.MAX_SAFE_INTEGER);
  }

  #lineOf(from: number, to: number, pico: number, slot: number): KnownLine {
    const known = this.#known[slot];
    if (known?.pico === pico && this.#isAt(from, to, known.name)) return known;
    const name = this.#row.toString('latin1', from, to);
    const line: KnownLine = {
      ...{ name: ascii(name), pico, counted: countedLines.indexOf(name) },
      place: costClasses.indexOf(costClassOf(name) as CostClass),
      lead: this.#phrase(`{"name":"${name}","count":`),
      middle: this.#phrase(`,"unit":"${unitOf(name)}","price_usd":"${usdText(BigInt(pico))}","cost_usd":"`),
    };
    this.#known[slot] = line;
    return line;
  }

  /** -1 where there is none, or a longer one than is exact. */
  #readNumber(): number {
    const row = this.#row;
    const from = this.#at;
    let at = from;
    let value = 0;
    for (let digit = row[at]! - 0x30; digit >= 0 && digit <= 9; digit = row[++at]! - 0x30) value = value * 10 + digit;
    this.#at = at;
    return at === from || at - from > digitsMax ? -1 : value;
  }

  #isAt(from: number, to: number, bytes: Uint8Array): boolean {
    if (to - from !== bytes.length) return false;
    for (let i = 0; i < bytes.length; i++) if (this.#row[from + i] !== bytes[i]) return false;
    return true;
  }

  #skip(bytes: Uint8Array): boolean {
    if (!this.#isAt(this.#at, this.#at + bytes.length, bytes)) return false;
    this.#at += bytes.length;
    return true;
  }

  #readExact(stored: string): void {
    const fee = ownBill.exec(stored);
    this.#isOwn = fee !== null;
    const bill = readBill(fee ? stored.slice(fee[0].length) : stored);
    const [promptTokens = 0, completionTokens = 0, cachedTokens = 0, reasoningTokens = 0] = this.tokens;
    const made = billJson(bill, fee && BigInt(fee[1]!));
    const { cost_details: details, notional_cost_details: notional, cost_lines: lines } = made;
    const usage = usageJson({ promptTokens, completionTokens, cachedTokens, reasoningTokens, bill });
    this.#exact = [usage, details, lines, notional].map((value) => this.#style.encode(JSON.stringify(value)));
    this.hasTier = bill.tier !== null;
    this.tierBytes = Buffer.from(bill.tier ?? '');
    this.tierFrom = 0;
    this.tierTo = this.tierBytes.length;
  }
}
