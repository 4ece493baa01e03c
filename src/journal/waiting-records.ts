/** The records that wait in memory for the store, oldest first, and the bytes of all records that are held there. */
import type { SettlementRow } from '../domain/settlement-row.js';
import type { Segment } from './journal-segments.js';

export interface Waiting extends SettlementRow {
  /** Its number among all records of this process. */
  readonly n: number;
  /** null where it is only in memory. */
  segment: Segment | null;
  /** The generation whose provisional record it replaces. */
  readonly replaces: string | null;
}

/** A larger settlement could exceed the time limit of a query. */
const batchBytes = 4 << 20;

export class WaitingRecords {
  #rows: Waiting[] = [];
  #bytes = 0;

  get length(): number {
    return this.#rows.length;
  }

  /** Includes records that were taken out and not forgotten yet. */
  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): Waiting | undefined {
    return this.#rows[0];
  }

  get rows(): readonly Waiting[] {
    return this.#rows;
  }

  add(row: Waiting): void {
    this.count(row);
    this.#rows.push(row);
  }

  /** Counts the bytes of a record that waits elsewhere. */
  count(row: Waiting): void {
    this.#bytes += sizeOf(row);
  }

  /** Gives back the bytes of a record that is settled or set aside. */
  forget(row: Waiting): void {
    this.#bytes -= sizeOf(row);
  }

  take(count: number): Waiting[] {
    return this.#rows.splice(0, count);
  }

  /** The oldest records, at most `max` and as many as one settlement holds. They stay until they are taken. */
  batch(max: number): readonly SettlementRow[] {
    let count = 0;
    for (let bytes = 0; count < Math.min(max, this.#rows.length); count++) {
      bytes += sizeOf(this.#rows[count]!);
      if (count > 0 && bytes > batchBytes) break;
    }
    return this.#rows.slice(0, count);
  }
}

function sizeOf({ start, end }: SettlementRow): number {
  return end - start;
}
