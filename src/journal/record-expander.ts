/**
 * Makes settlement rows of journal records. Most records differ from others only in ids, times, counts, the cost and hashes. The first of a
 * kind is read whole, and its line is kept as the text between those. For the next ones the bytes that they have in common are only compared.
 */
import { ownColumns, ownParts, splitLine } from '../domain/settled-line.js';
import { type LineForm, lineText, RowWriter, type SettlementRow } from '../domain/settlement-row.js';
import { frameBytes } from './frames.js';
import { OwnFields } from './own-fields.js';
import { readRecord } from './record.js';

/** A record of a kind that was seen before needs only what differs. */
interface Kind {
  readonly accountId: string;
  readonly keyId: string;
  readonly billed: boolean;
  readonly form: LineForm;
  /** The text of the line before, between and behind what differs. */
  readonly pieces: readonly string[];
}

/** So many kinds are kept twice over, about a kilobyte each: those of now, and those of before them that are still met. */
const kindsMax = 4_000;
/** A cell that has no part of its own. */
const noSplit = /(?!)/;

export class RecordExpander {
  readonly #rows = new RowWriter();
  readonly #own = new OwnFields();
  #kinds = new Map<string, Kind | null>();
  #kindsBefore = new Map<string, Kind | null>();

  /** Reads an undamaged frame. Throws where it holds no generation. */
  expand(bytes: Buffer, start: number, end: number): SettlementRow {
    const own = this.#own;
    const common = own.read(bytes, start + frameBytes + 1, end);
    if (common === null) return this.#rows.write(readRecord(bytes, start, end));
    const kind = this.#find(common);
    if (kind === undefined) return this.#learn(common, bytes, start, end);
    if (kind === null) return this.#rows.write(readRecord(bytes, start, end));
    const { accountId, keyId, form } = kind;
    const text = own.lineOf(kind.pieces);
    if (text === null) return this.#rows.write(readRecord(bytes, start, end));
    const place = this.#rows.writeLine(text);
    const chargePico = kind.billed && own.cost !== 0 ? BigInt(own.cost) : 0n;
    const notionalPico = own.notional === null ? null : BigInt(own.notional);
    // Mostly the list price is counted. To make a big integer takes as long as to read ten fields.
    const countedPico = own.counted === own.notional ? notionalPico : own.counted === null ? null : BigInt(own.counted);
    return {
      bytes: place.bytes,
      start: place.start,
      end: place.end,
      accountId,
      keyId,
      chargePico,
      countedPico: countedPico === null ? chargePico : kind.billed ? countedPico : 0n,
      line: {
        accountId,
        chargePico,
        form,
        id: own.id,
        createdAt: own.createdAt,
        promptTokens: own.promptTokens,
        completionTokens: own.completionTokens,
        cachedTokens: own.cachedTokens,
        reasoningTokens: own.reasoningTokens,
        latencyMs: own.latencyMs,
        firstByteMs: own.firstByteMs,
        bodyHashes: own.bodyHashes,
        notionalPico,
        countedPico,
      },
    };
  }

  #find(common: string): Kind | null | undefined {
    const kind = this.#kinds.get(common);
    if (kind !== undefined) return kind;
    const before = this.#kindsBefore.get(common);
    if (before !== undefined) this.#keep(common, before);
    return before;
  }

  #keep(common: string, kind: Kind | null): void {
    if (this.#kinds.size >= kindsMax) {
      this.#kindsBefore = this.#kinds;
      this.#kinds = new Map();
    }
    this.#kinds.set(common, kind);
  }

  #learn(common: string, bytes: Buffer, start: number, end: number): SettlementRow {
    const generation = readRecord(bytes, start, end);
    const row = this.#rows.write(generation);
    const line = lineText(row);
    const { form } = splitLine(row);
    const { accountId, keyId } = row;
    const kind = { accountId, keyId, billed: generation.billed, form, pieces: piecesOf(line.split('\t')) };
    // Where the line that its pieces give is another one, records of this kind are read whole.
    const isUsual = this.#own.lineOf(kind.pieces) === `${line}\n`;
    this.#keep(common, isUsual ? kind : null);
    return row;
  }
}

/** The text of a line without what differs, in pieces. */
function piecesOf(cells: readonly string[]): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const [index, cell] of cells.entries()) {
    if (index > 0) piece += '\t';
    const parts = ownColumns.has(index) ? ['', ''] : cell.split(ownParts.get(index) ?? noSplit);
    piece += parts[0];
    for (const next of parts.slice(1)) {
      pieces.push(piece);
      piece = next;
    }
  }
  return [...pieces, `${piece}\n`];
}
