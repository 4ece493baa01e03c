/**
 * Makes the leaves of a settlement from the lines that it sends to the store, so that the log costs the store one row for a settlement and
 * not several for each generation. The receipt itself is made again from the stored generation when somebody asks for its proof.
 */
import { usdText } from '../base/money.js';
import { lineColumns, type SettledLine, unescapeCell } from '../domain/settlement-row.js';
import { readBill } from '../wire/cost.js';
import { leafHashHex } from './merkle.js';
import { type CellHashes, readProofCell, splitCell } from './proof-facts.js';
import {
  type CommonPieces,
  commonPieces,
  fillReceipt,
  type LogIdentity,
  notionalText,
  type ReceiptSource,
  receiptText,
  usageText,
} from './receipt.js';

/** The leaves of one settlement. */
export class SettledLeaves {
  /** One hash after the other, hexadecimal, in no particular order. */
  hex = '';
  count = 0;
  /** The rows of which no receipt can be made. */
  readonly bad: { readonly id: string; readonly accountId: string }[] = [];

  constructor(readonly log: LogIdentity) {}

  add(line: SettledLine): void {
    try {
      this.hex += leafHashHex(receiptOfLine(line, this.log));
      this.count++;
    } catch {
      this.bad.push({ id: unescapeCell(line.cells[0]!), accountId: line.accountId });
    }
  }
}

const noValue = '\\N';
const column = (name: string): number => lineColumns.indexOf(name);
const accountAt = column('account_id');
const [billedAt, costAt, createdAt] = [column('billed'), column('cost_pico'), column('created_ms')];
const [requestedAt, servedAt] = [column('requested_model'), column('served_model')];
const [providerAt, locodeAt, streamEndAt] = [column('provider'), column('locode'), column('stream_end')];
const [promptAt, completionAt] = [column('prompt_tokens'), column('completion_tokens')];
const [cachedAt, reasoningAt] = [column('cached_tokens'), column('reasoning_tokens')];
const [attemptsAt, billAt, proofAt] = [column('attempts'), column('bill'), column('proof')];
const [credentialAt, ownerAt, notionalAt] = [
  column('credential_id'),
  column('credential_owner'),
  column('notional_pico'),
];

/** As `receiptText` of the stored generation, with what many lines have in common made once. */
export function receiptOfLine({ cells, accountId }: SettledLine, log: LogIdentity): string {
  const proof = cells[proofAt]!;
  const hashes = splitCell(proof);
  const attempts = attemptsKey(cells[attemptsAt]!);
  const id = cells[0]!;
  if (hashes === null || attempts === null || !isPlainId.test(id)) return receiptText(sourceOf(cells, accountId), log);
  const billed = cells[billedAt] === 't';
  const common = commonOf(cells, { accountId, hashes, attempts, log });
  return fillReceipt(common, {
    answerSha256: quoted(hashes.answer),
    costUsd: billed ? usdText(BigInt(cells[costAt]!)) : '0',
    createdAt: new Date(Number(cells[createdAt])).toISOString(),
    generation: `"${id}"`,
    notionalUsd: notionalText(cells[notionalAt] === noValue ? null : BigInt(cells[notionalAt]!)),
    requestSha256: quoted(hashes.request),
    usage: billed
      ? usageText({
          cachedTokens: cells[cachedAt]!,
          completionTokens: cells[completionAt]!,
          promptTokens: cells[promptAt]!,
          reasoningTokens: cells[reasoningAt]!,
        })
      : 'null',
  });
}

const isPlainId = /^[\w-]+$/;
const quoted = (hash: string | null): string => (hash === null ? 'null' : `"${hash}"`);

/** One attempt without its time and what follows, which are no part of a receipt; null where there are several. */
function attemptsKey(cell: string): string | null {
  const end = cell.indexOf(',"status":');
  return end < 0 || cell.includes('},{') ? null : cell.slice(0, end);
}

/** The numbers of tokens in a bill, which are no part of the prices. */
const counts = /",\d+,"/g;

/** Emptied when it is full, and for another log. */
const known = new Map<string, CommonPieces>();
const knownMax = 1_000;
let knownLog: LogIdentity | null = null;

interface LineParts {
  readonly accountId: string;
  readonly hashes: CellHashes;
  readonly attempts: string;
  readonly log: LogIdentity;
}

function commonOf(cells: readonly string[], { accountId, hashes, attempts, log }: LineParts): CommonPieces {
  const key =
    `${cells[accountAt]}\t${cells[requestedAt]}\t${cells[servedAt]}\t${cells[providerAt]}\t${cells[locodeAt]}\t${cells[streamEndAt]}` +
    `\t${cells[billAt]!.replace(counts, '","')}\t${attempts}\t${hashes.common}` +
    `\t${cells[credentialAt]}`;
  if (knownLog?.origin !== log.origin || !knownLog.salt.equals(log.salt) || known.size >= knownMax) {
    known.clear();
    knownLog = log;
  }
  let common = known.get(key);
  if (common === undefined) {
    const source = sourceOf(cells, accountId);
    common = commonPieces(source, readProofCell(source.proof), log);
    known.set(key, common);
  }
  return common;
}

function sourceOf(cells: readonly string[], accountId: string): ReceiptSource {
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
    credentialId: textOrNull(credentialAt),
    credentialOwner: textOrNull(ownerAt) as ReceiptSource['credentialOwner'],
    notionalPico: cells[notionalAt] === noValue ? null : BigInt(cells[notionalAt]!),
  };
}
