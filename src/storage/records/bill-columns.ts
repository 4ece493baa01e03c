/** Replaces the last column of a row, the stored bill, by the fields that the API shows of it. Works on the rows of a binary COPY. */
import { type BillTexts, type BillWriter, billWriter, type TokenFigures } from '../../domain/bill-texts.js';
import type { ExportQuery } from '../store.js';
import type { CopyReader } from './copy-out.js';
import { copyHeaderBytes, type LineColumn } from './export-lines.js';
import { int32, int64 } from './export-values.js';

/** The columns that take the place of the bill. */
export const billColumns: readonly LineColumn[] = [
  { name: 'service_tier', type: 'text' },
  ...['usage', 'cost_details', 'cost_lines'].map((name) => ({ name, type: 'ready' as const })),
];

const styles = { ndjson: 'json', csv: 'csv', parquet: 'plain' } as const;

const tokenColumns = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const;
const lengthBytes = 4;
/** One UTF-16 unit takes at most this many bytes in UTF-8. */
const unitBytesMax = 3;

export class BillColumns implements CopyReader {
  #row = Buffer.alloc(1 << 14);
  #begun = false;
  readonly #tokens = new Float64Array(tokenColumns.length);
  /** The place among `tokenColumns` of each column before the bill, or -1. */
  readonly #places: Int8Array;

  readonly #writeBill: BillWriter;

  /** `names` are the columns before the bill. */
  constructor(
    private readonly inner: CopyReader,
    names: readonly string[],
    format: ExportQuery['format'],
  ) {
    this.#writeBill = billWriter(styles[format]);
    this.#places = Int8Array.from(names, (name) => (tokenColumns as readonly string[]).indexOf(name));
  }

  take(row: Buffer): Buffer | null {
    const start = this.#begun ? 0 : copyHeaderBytes;
    this.#begun = true;
    if (row[start]! >= 0x80) return this.inner.take(row);
    let from = start + 2;
    for (let i = 0; i < this.#places.length; i++) {
      const length = int32(row, from);
      from += lengthBytes;
      const place = this.#places[i]!;
      if (place >= 0) this.#tokens[place] = int64(row, from);
      if (length > 0) from += length;
    }
    const length = int32(row, from);
    const bill = length < 0 ? null : row.toString('utf8', from + lengthBytes, from + lengthBytes + length);
    return this.inner.take(this.#expand(row, from, this.#writeBill(this.#figures(), bill)));
  }

  end(): Buffer | null {
    return this.inner.end();
  }

  #figures(): TokenFigures {
    const tokens = this.#tokens;
    const [promptTokens, completionTokens] = [tokens[0]!, tokens[1]!];
    return { promptTokens, completionTokens, cachedTokens: tokens[2]!, reasoningTokens: tokens[3]! };
  }

  /** The bytes of the row before the bill, and then the texts. */
  #expand(row: Buffer, bytes: number, { serviceTier, usage, costDetails, costLines }: BillTexts): Buffer {
    const texts = [serviceTier, usage, costDetails, costLines];
    let most = bytes;
    for (const text of texts) most += lengthBytes + (text === null ? 0 : text.length * unitBytesMax);
    if (most > this.#row.length) this.#row = Buffer.alloc(most * 2);
    row.copy(this.#row, 0, 0, bytes);
    let at = bytes;
    for (const text of texts) {
      const length = text === null ? 0 : this.#row.write(text, at + lengthBytes);
      this.#row.writeInt32BE(text === null ? -1 : length, at);
      at += lengthBytes + length;
    }
    return this.#row.subarray(0, at);
  }
}
