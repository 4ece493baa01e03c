/**
 * Splits a settlement line for the sums and the log. Most lines differ from others only in ids, times, counts, the cost and hashes. The other
 * cells are their form, which is kept, so that what follows from it is worked out once.
 */
import {
  type LineForm,
  lineColumns,
  lineText,
  noValue,
  type SettledLine,
  type SettlementRow,
  unescapeCell,
} from './settlement-row.js';

const column = (name: string): number => lineColumns.indexOf(name);
const [requestAt, costAt, createdAt] = [column('request_id'), column('cost_pico'), column('created_ms')];
const [promptAt, completionAt] = [column('prompt_tokens'), column('completion_tokens')];
const [cachedAt, reasoningAt] = [column('cached_tokens'), column('reasoning_tokens')];
const [latencyAt, firstByteAt] = [column('latency_ms'), column('first_byte_ms')];
const [notionalAt, countedAt] = [column('notional_pico'), column('counted_pico')];
const [attemptsAt, billAt, proofAt] = [column('attempts'), column('bill'), column('proof')];
const [servedAt, attemptedAt] = [column('served_model'), column('providers_attempted')];

/** Cells of which each line has its own, whole. Of three others it has a part. */
export const ownColumns: ReadonlySet<number> = new Set([
  ...[0, costAt, requestAt, createdAt, promptAt, completionAt, cachedAt, reasoningAt, latencyAt, firstByteAt],
  ...[notionalAt, countedAt],
]);

/** In the cell of the attempts: their times. A quote inside of a text has a backslash before it. */
const times = /(?<=,"first_byte_ms":)-?\d[\d.e+-]*/g;
/** In the cell of the bill: the counts of its lines. */
const counts = /(?<=(?<!\\)",)\d+(?=,")/g;
/** In the cell of the proof: two hashes, with what stands between them. A list with the hash of the project's policy may follow. */
const hashes = /(?<=,")[\w-]{43}","[\w-]{43}(?="(?:,\["[\w-]{43}"\])?\]$)/g;

/** What each line has its own of in a cell, by column. */
export const ownParts: ReadonlyMap<number, RegExp> = new Map([
  [attemptsAt, times],
  [billAt, counts],
  [proofAt, hashes],
]);

/**
 * What tells one series of usage from another. A project and the owner of a credential are no part of it, but say whose spending of the day
 * a line is, and whether it is part of what the status page says of a route.
 */
const seriesColumns = [
  ...['account_id', 'key_id', 'key_name', 'requested_model', 'served_model', 'provider', 'locode', 'door', 'billed'],
  ...['status', 'error_code', 'stream_end', 'project_id', 'credential_owner'],
].map(column);

function seriesOf(cells: readonly string[]): string {
  let key = '';
  for (const index of seriesColumns) key += `${cells[index]}\t`;
  return cells[servedAt] === noValue ? key + cells[attemptedAt] : key;
}

/** The forms that were seen lately, by their cells. */
const forms = new Map<string, LineForm>();
const formsMax = 4_000;

function formOf(cells: readonly string[]): LineForm {
  let key = '';
  for (const [index, cell] of cells.entries()) {
    const own = ownParts.get(index);
    if (!ownColumns.has(index)) key += own === undefined ? `\t${cell}` : `\t${cell.replaceAll(own, '')}`;
  }
  let form = forms.get(key);
  if (form === undefined) {
    if (forms.size >= formsMax) forms.clear();
    form = { cells, series: seriesOf(cells) };
    forms.set(key, form);
  }
  return form;
}

export function splitLine(row: SettlementRow): SettledLine {
  if (row.line !== null) return row.line;
  const cells = lineText(row).split('\t');
  const number = (index: number): number => Number(cells[index]);
  const amount = (index: number): bigint | null => (cells[index] === noValue ? null : BigInt(cells[index]!));
  return {
    ...{ accountId: row.accountId, chargePico: row.chargePico, form: formOf(cells), id: unescapeCell(cells[0]!) },
    ...{ createdAt: number(createdAt), promptTokens: number(promptAt), completionTokens: number(completionAt) },
    ...{ cachedTokens: number(cachedAt), reasoningTokens: number(reasoningAt), latencyMs: number(latencyAt) },
    firstByteMs: cells[firstByteAt] === noValue ? null : number(firstByteAt),
    bodyHashes: cells[proofAt]!.match(hashes)?.[0] ?? null,
    ...{ notionalPico: amount(notionalAt), countedPico: amount(countedAt) },
  };
}
