/**
 * Makes the leaves of a settlement from the lines that it sends to the store, so that the log costs the store one row for a settlement and
 * not several for each generation. The receipt itself is made again from the stored generation when somebody asks for its proof.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { lineColumns, rowId, type SettlementRow, unescapeCell } from '../domain/settlement-row.js';
import { readBill } from '../wire/cost.js';
import { hashBytes, leafHash } from './merkle.js';
import { type LogIdentity, type ReceiptSource, receiptText } from './receipt.js';

export interface SettledLeaves {
  readonly origin: string;
  /** One hash after the other, in no particular order. */
  readonly leaves: Buffer;
  /** The rows of which no receipt can be made. */
  readonly bad: readonly { readonly id: string; readonly accountId: string }[];
}

/** So many take less than a millisecond, after which requests have the thread again. */
const turnMax = 64;

export async function leavesOf(rows: readonly SettlementRow[], log: LogIdentity): Promise<SettledLeaves> {
  const leaves = Buffer.allocUnsafe(rows.length * hashBytes);
  const bad: SettledLeaves['bad'][number][] = [];
  let end = 0;
  for (const [i, row] of rows.entries()) {
    if (i > 0 && i % turnMax === 0) await turn();
    try {
      end += leafHash(receiptText(sourceOfRow(row), log)).copy(leaves, end);
    } catch {
      bad.push({ id: rowId(row), accountId: row.accountId });
    }
  }
  return { origin: log.origin, leaves: leaves.subarray(0, end), bad };
}

const noValue = '\\N';
const column = (name: string): number => lineColumns.indexOf(name);
const [billedAt, costAt, createdAt] = [column('billed'), column('cost_pico'), column('created_ms')];
const [requestedAt, servedAt] = [column('requested_model'), column('served_model')];
const [providerAt, locodeAt, streamEndAt] = [column('provider'), column('locode'), column('stream_end')];
const [promptAt, completionAt] = [column('prompt_tokens'), column('completion_tokens')];
const [cachedAt, reasoningAt] = [column('cached_tokens'), column('reasoning_tokens')];
const [attemptsAt, billAt, proofAt] = [column('attempts'), column('bill'), column('proof')];

export function sourceOfRow({ bytes, start, end, accountId }: SettlementRow): ReceiptSource {
  const cells = bytes.toString('utf8', start, end - 1).split('\t');
  const text = (at: number): string => unescapeCell(cells[at]!);
  const textOrNull = (at: number): string | null => (cells[at] === noValue ? null : text(at));
  return {
    accountId,
    id: text(0),
    createdAt: Number(cells[createdAt]),
    requestedModel: text(requestedAt),
    servedModel: textOrNull(servedAt),
    provider: textOrNull(providerAt),
    locode: textOrNull(locodeAt),
    attempts: JSON.parse(text(attemptsAt)) as ReceiptSource['attempts'],
    billed: cells[billedAt] === 't',
    bill: cells[billAt] === noValue ? null : readBill(text(billAt)),
    costPico: BigInt(cells[costAt]!),
    promptTokens: Number(cells[promptAt]),
    completionTokens: Number(cells[completionAt]),
    cachedTokens: Number(cells[cachedAt]),
    reasoningTokens: Number(cells[reasoningAt]),
    streamEnd: textOrNull(streamEndAt) as ReceiptSource['streamEnd'],
    proof: textOrNull(proofAt),
  };
}
