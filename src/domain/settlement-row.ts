/** What is settled: a generation's line as it goes into COPY, and beside it what the balances need to know of it. */
import type { Generation } from './generation.js';
import { LineWriter, lineColumns, unescaped } from './settlement-line.js';

export interface SettlementRow {
  /** Holds the line, as a rule among others. */
  readonly bytes: Buffer;
  readonly start: number;
  /** Behind the line's end. */
  readonly end: number;
  readonly accountId: string;
  readonly keyId: string;
  /** What leaves the balance: 0 for a failure. */
  readonly chargePico: bigint;
}

const tab = 9;
const createdColumn = lineColumns.indexOf('created_ms');

export const chargeOf = ({ billed, costPico }: Generation): bigint => (billed ? costPico : 0n);

/** A row in bytes of its own. */
export function settlementRow(generation: Generation): SettlementRow {
  for (let size = 2048; ; size *= 2) {
    const line = new LineWriter(Buffer.allocUnsafeSlow(size));
    if (!line.write(generation)) continue;
    const { accountId, keyId } = generation;
    return { bytes: line.bytes, start: 0, end: line.at, accountId, keyId, chargePico: chargeOf(generation) };
  }
}

/** Reads a line of an earlier process again. Throws where it is none. */
export function readSettlementRow(bytes: Buffer, start: number, end: number): SettlementRow {
  const cells = bytes.toString('utf8', start, end - 1).split('\t');
  const [id, accountId, keyId, billed, cost] = cells;
  if (cells.length !== lineColumns.length || !id || !accountId || keyId === undefined)
    throw new TypeError('not a journal record');
  if (!cost || !/^\d+$/.test(cost) || (billed !== 't' && billed !== 'f')) throw new TypeError('not a journal record');
  const chargePico = billed === 't' ? BigInt(cost) : 0n;
  return { bytes, start, end, accountId: unescaped(accountId), keyId: unescaped(keyId), chargePico };
}

export function lineText({ bytes, start, end }: SettlementRow): string {
  return bytes.toString('utf8', start, end - 1);
}

/** The line as an object of JSON, one name a column, for a person to read or a program to book. */
export function recordText(row: SettlementRow): string {
  const cells = lineText(row).split('\t');
  const record = Object.fromEntries(
    lineColumns.map((column, i) => [column, cells[i] === '\\N' ? null : unescaped(cells[i] ?? '')]),
  );
  return JSON.stringify({ unsettled: record });
}

/** The generation's id: the line's first cell. */
export function rowId({ bytes, start }: Pick<SettlementRow, 'bytes' | 'start'>): string {
  return unescaped(bytes.toString('utf8', start, bytes.indexOf(tab, start)));
}

/** When the generation was created, epoch milliseconds. */
export function rowCreatedAt(row: SettlementRow): number {
  return Number(lineText(row).split('\t', createdColumn + 1)[createdColumn]);
}

/** The rows' bytes, those that stand side by side as one piece and none of them copied. */
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
