/**
 * The records that this process holds in memory: those that wait for the store, and provisional ones.
 *
 * A provisional record says what a stream has cost so far. It is in the journal while the stream is delivered, so that a crash does not
 * make it free. The final record of the same generation replaces it, and it is settled only where no final one was written.
 */
import type { Generation } from '../domain/generation.js';
import { chargeOf, LineWriter, type SettlementRow } from '../domain/settlement-row.js';
import { provisionalMark } from './journal-rest.js';
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

/** Oldest first, with the bytes of all records that are held. */
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

export interface Provisional {
  readonly row: SettlementRow;
  /** null where the disk did not accept it. */
  readonly segment: Segment | null;
}

/** The provisional records of this process that wait for their final record. */
export class OpenProvisionals {
  readonly #open = new Map<string, Provisional>();
  #line = new LineWriter(Buffer.allocUnsafeSlow(16 * 1024));

  get size(): number {
    return this.#open.size;
  }

  get(id: string): Provisional | undefined {
    return this.#open.get(id);
  }

  /** The line with its mark, in a buffer that the next call overwrites. */
  lineOf(generation: Generation): { bytes: Buffer; end: number } {
    for (;;) {
      const line = this.#line;
      line.bytes[0] = provisionalMark;
      line.at = 1;
      if (line.write(generation)) return { bytes: line.bytes, end: line.at };
      this.#line = new LineWriter(Buffer.allocUnsafeSlow(2 * line.bytes.length));
    }
  }

  /** Replaces an earlier provisional record of the same generation. */
  put(generation: Generation, { bytes, end }: { bytes: Buffer; end: number }, segment: Segment | null): void {
    this.release(generation.id);
    const line = Buffer.allocUnsafe(end - 1);
    bytes.copy(line, 0, 1, end);
    const { accountId, keyId } = generation;
    const row = { bytes: line, start: 0, end: end - 1, accountId, keyId, chargePico: chargeOf(generation) };
    this.#open.set(generation.id, { row, segment });
    if (segment) segment.outstanding++;
  }

  /** Drops a provisional record whose final record is in a file or settled. */
  release(id: string): void {
    const provisional = this.#open.get(id);
    if (!provisional) return;
    this.#open.delete(id);
    if (provisional.segment) provisional.segment.outstanding--;
  }

  /** Takes all of them. They are then final, because their requests will not end any more. */
  takeAll(): Provisional[] {
    const all = [...this.#open.values()];
    this.#open.clear();
    return all;
  }

  rows(): SettlementRow[] {
    return [...this.#open.values()].map(({ row }) => row);
  }
}
