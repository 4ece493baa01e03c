/** Records that are to be settled, and where they come from. */
import type { SettlementRow } from '../domain/settlement-row.js';
import type { RecordExpander } from './record-expander.js';

export interface Waiting extends SettlementRow {
  readonly source: Source;
  /** Where it begins in its stream. */
  readonly place: number;
  /** The position of the stream once it is settled. */
  readonly position: number;
}

/** Without a spread: there is one for each record, and with more members an object that was spread is much slower, also to read. */
export function waitingRow(source: Source, row: SettlementRow, place: number, position: number): Waiting {
  const { bytes, start, end, accountId, keyId, chargePico, countedPico, line } = row;
  return { bytes, start, end, accountId, keyId, chargePico, countedPico, line, source, place, position };
}

export interface Source {
  readonly dir: string;
  /** The stream's name in the store; null where the store knows nothing of it. */
  readonly run: string | null;
  /** Everything before it was read. */
  readonly position: number;
  /** Everything before it was read and is not needed to read the rest. */
  readonly needed: number;
  /** Everything was read, and nothing will follow. */
  readonly isOver: boolean;
  files(): readonly string[];
  /** The next records, a part of a megabyte; none where there are no more at present. */
  read(expander: RecordExpander): Waiting[];
}

export interface SourceEvents {
  /** Bytes between two positions are no record. */
  damaged(file: string, start: number, end: number): void;
  /** A whole record that this version cannot read. False where it could not be kept: try again later. */
  unknown(frame: Buffer, reason: string): boolean;
  /** So many provisional records count as final. */
  estimated(count: number): void;
}
