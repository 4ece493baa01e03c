/**
 * A generation as one line of text, in the form of PostgreSQL's COPY, which the store copies unchanged. Beside the line stands what the
 * balances need of it. Journals of earlier versions keep such lines.
 */
import { type BillLines, billText } from '../wire/cost.js';
import { countedOf, type Generation } from './generation.js';

/** The columns in the order of a line. A replay reads the first five again. A new one is only added at the end. */
export const lineColumns: readonly string[] = (
  'id account_id key_id billed cost_pico request_id key_name created_ms requested_model served_model provider locode ' +
  'streamed status prompt_tokens completion_tokens cached_tokens reasoning_tokens latency_ms first_byte_ms ' +
  'providers_attempted fallback_occurred finish_reason stream_end usage_source error_code attempts bill request_policy proof door ' +
  'project_id holder_id end_user credential_id credential_owner notional_pico counted_pico skipped'
).split(' ');

const cellsRead = 5;
/** Lines of earlier versions may lack these at their end. */
const optionalColumns = lineColumns.length - 1 - lineColumns.indexOf('attempts');

export interface SettlementRow {
  /** Holds the line, usually among other lines. */
  readonly bytes: Buffer;
  readonly start: number;
  /** The index after the line's last byte. */
  readonly end: number;
  readonly accountId: string;
  readonly keyId: string;
  /** The amount that leaves the balance: 0 for a failed request. */
  readonly chargePico: bigint;
  /** What budgets, caps and the key count: the same, or more where an own credential has served. */
  readonly countedPico: bigint;
  /** What the sums and the log need of it; null where it has to be split off the line. */
  readonly line: SettledLine | null;
}

/** The cells that many lines have in common, as one object for all of them. */
export interface LineForm {
  /** As they are written, by position in `lineColumns`. Cells of which each line has its own are those of one of the lines. */
  readonly cells: readonly string[];
  /** The same for all lines whose usage is summed together. */
  readonly series: string;
}

/** The cells of which each line has its own, and the form of the line. */
export interface SettledLine {
  readonly accountId: string;
  readonly chargePico: bigint;
  readonly form: LineForm;
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  readonly latencyMs: number;
  readonly firstByteMs: number | null;
  /** Of the request and the answer, as the proof has them; null where it has not both. */
  readonly bodyHashes: string | null;
  /** Of what an own credential has served: its list price, and what budgets count. */
  readonly notionalPico: bigint | null;
  readonly countedPico: bigint | null;
}

/** How far the journal of one process is settled. The store notes it with the records. */
export interface JournalOffset {
  /** The name of the process's stream of records. */
  readonly run: string;
  /** Everything before it, in bytes, is settled. */
  readonly position: number;
  /** How many records that are. */
  readonly records: number;
}

const tab = 9;
/** A cell that is null. */
export const noValue = '\\N';
/** One UTF-16 unit takes at most this many bytes in UTF-8. */
const unitBytesMax = 3;

/** The characters with a meaning in COPY's text form. U+0000 is left out, because PostgreSQL cannot store it. */
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\u0000': '' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters have a meaning in COPY's text form.
const special = /[\\\t\n\r\u0000]/;
const everySpecial = new RegExp(special, 'g');

const chargeOf = ({ billed, costPico }: Generation): bigint => (billed ? costPico : 0n);

export const escapeText = (text: string): string =>
  special.test(text) ? text.replace(everySpecial, (character) => escapes[character]!) : text;
const textCell = (text: string | null): string => (text === null ? noValue : escapeText(text));
const jsonCell = (value: unknown): string => escapeText(JSON.stringify(value));
const billCell = (bill: BillLines | null): string => (bill === null ? noValue : escapeText(billText(bill)));
const flagCell = (value: boolean): string => (value ? 't' : 'f');

/** The text of a cell that has one. */
export function unescapeCell(cell: string): string {
  if (!cell.includes('\\')) return cell;
  return cell.replace(/\\(.)/g, (_, letter: string) => ({ t: '\t', n: '\n', r: '\r' })[letter] ?? letter);
}

/** A line without its end. One template string: a list of cells that is joined takes 4 µs longer (docs/decisions/0035). */
function settlementLine(g: Generation): string {
  return (
    `${textCell(g.id)}\t${textCell(g.accountId)}\t${textCell(g.keyId)}\t${flagCell(g.billed)}\t${g.costPico}\t` +
    `${textCell(g.requestId)}\t${textCell(g.keyName)}\t${g.createdAt}\t${textCell(g.requestedModel)}\t` +
    `${textCell(g.servedModel)}\t${textCell(g.provider)}\t${textCell(g.locode)}\t${flagCell(g.streamed)}\t` +
    `${g.status}\t${g.promptTokens}\t${g.completionTokens}\t${g.cachedTokens}\t${g.reasoningTokens}\t` +
    `${g.latencyMs}\t${g.firstByteMs ?? noValue}\t${jsonCell(g.providersAttempted)}\t${flagCell(g.fallbackOccurred)}\t` +
    `${textCell(g.finishReason)}\t${textCell(g.streamEnd)}\t${textCell(g.usageSource)}\t${textCell(g.errorCode)}\t` +
    `${jsonCell(g.attempts)}\t${billCell(g.bill)}\t${g.requestPolicy == null ? noValue : jsonCell(g.requestPolicy)}\t` +
    `${textCell(g.proof ?? null)}\t${g.door ?? noValue}\t${g.projectId ?? noValue}\t${g.holderId ?? noValue}\t` +
    `${textCell(g.endUser ?? null)}\t${g.credentialId ?? noValue}\t${g.credentialOwner ?? noValue}\t` +
    `${g.notionalPico ?? noValue}\t${g.countedPico ?? noValue}\t${g.skipped == null ? noValue : jsonCell(g.skipped)}`
  );
}

/** Writes lines one after the other into a buffer. */
class LineWriter {
  /** Where the next line begins. */
  at = 0;

  constructor(readonly bytes: Buffer) {}

  /** Writes a line with its end. Returns false and writes nothing where the line does not fit. */
  write(line: string): boolean {
    const room = this.bytes.length - this.at;
    if (line.length * unitBytesMax > room && Buffer.byteLength(line) > room) return false;
    this.at += this.bytes.write(line, this.at);
    return true;
  }
}

/** Makes rows whose lines stand side by side in pieces of memory. */
export class RowWriter {
  #line: LineWriter;

  constructor(private readonly pieceBytes = 1 << 18) {
    this.#line = new LineWriter(Buffer.allocUnsafeSlow(pieceBytes));
  }

  write(generation: Generation): SettlementRow {
    const { accountId, keyId } = generation;
    const { bytes, start, end } = this.writeLine(`${settlementLine(generation)}\n`);
    const [chargePico, countedPico] = [chargeOf(generation), countedOf(generation)];
    return { bytes, start, end, accountId, keyId, chargePico, countedPico, line: null };
  }

  /** A line with its end. */
  writeLine(line: string): Pick<SettlementRow, 'bytes' | 'start' | 'end'> {
    let start = this.#line.at;
    while (!this.#line.write(line)) {
      const size = start === 0 ? 2 * this.#line.bytes.length : this.pieceBytes;
      this.#line = new LineWriter(Buffer.allocUnsafeSlow(size));
      start = 0;
    }
    return { bytes: this.#line.bytes, start, end: this.#line.at };
  }
}

/** A row in a buffer of its own. */
export function settlementRow(generation: Generation): SettlementRow {
  return new RowWriter(2048).write(generation);
}

/**
 * Reads the line of an earlier process. Throws where it is not a record. COPY takes only lines with every column, so a line of an
 * earlier version is completed, in a buffer of its own.
 */
export function readSettlementRow(bytes: Buffer, start: number, end: number): SettlementRow {
  const text = bytes.toString('utf8', start, end - 1);
  const [id, accountId, keyId, billed, cost] = text.split('\t', cellsRead);
  const missing = lineColumns.length - cellsIn(text);
  if (missing < 0 || missing > optionalColumns || !id || !accountId || keyId === undefined)
    throw new TypeError('not a journal record');
  if (!cost || !/^\d+$/.test(cost) || (billed !== 't' && billed !== 'f')) throw new TypeError('not a journal record');
  const counted = countedIn(text, missing);
  const chargePico = billed === 't' ? BigInt(cost) : 0n;
  const line = missing === 0 ? null : completed(bytes.subarray(start, end - 1), missing);
  return {
    bytes: line ?? bytes,
    start: line ? 0 : start,
    end: line ? line.length : end,
    accountId: unescapeCell(accountId),
    keyId: unescapeCell(keyId),
    chargePico,
    countedPico: billed === 't' && counted !== noValue ? BigInt(counted) : chargePico,
    line: null,
  };
}

/** Lines of earlier versions end with this cell, or before it. */
function countedIn(text: string, missing: number): string {
  const after = lineColumns.length - 1 - lineColumns.indexOf('counted_pico') - missing;
  if (after < 0) return noValue;
  return text.split('\t').at(-1 - after)!;
}

function completed(cells: Uint8Array, missing: number): Buffer {
  return Buffer.concat([cells, Buffer.from(`${`\t${noValue}`.repeat(missing)}\n`)]);
}

/** Counted, because to split all cells off takes three times as long, and a backlog has many lines. */
function cellsIn(text: string): number {
  let cells = 1;
  for (let at = text.indexOf('\t'); at !== -1; at = text.indexOf('\t', at + 1)) cells++;
  return cells;
}

export function lineText({ bytes, start, end }: SettlementRow): string {
  return bytes.toString('utf8', start, end - 1);
}

/** The line as a JSON object with a member for each column, for an operator or a program to process. */
export function recordText(row: SettlementRow): string {
  const cells = lineText(row).split('\t');
  const record = Object.fromEntries(
    lineColumns.map((column, i) => [column, cells[i] === noValue ? null : unescapeCell(cells[i] ?? '')]),
  );
  return JSON.stringify({ unsettled: record });
}

/** The generation's id, the line's first cell. */
export function rowId({ bytes, start }: Pick<SettlementRow, 'bytes' | 'start'>): string {
  return unescapeCell(bytes.toString('utf8', start, bytes.indexOf(tab, start)));
}

/** The rows' bytes without copying them. Rows that stand side by side are one piece. */
export function piecesOf(rows: readonly SettlementRow[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let first = 0; first < rows.length; ) {
    const { bytes, start } = rows[first]!;
    let end = start;
    while (first < rows.length && rows[first]!.bytes === bytes && rows[first]!.start === end) end = rows[first++]!.end;
    pieces.push(bytes.subarray(start, end));
  }
  return pieces;
}
