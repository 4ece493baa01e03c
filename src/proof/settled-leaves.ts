/**
 * Makes the leaves of a settlement from the lines that it sends to the store, so that the log costs the store one row for a settlement and
 * not several for each generation. The receipt itself is made again from the stored generation when somebody asks for its proof.
 */
import { usdText } from '../base/money.js';
import { type LineForm, lineColumns, noValue, type SettledLine, unescapeCell } from '../domain/settlement-row.js';
import { readBill } from '../wire/cost.js';
import { leafHashHex } from './merkle.js';
import { readProofCell } from './proof-facts.js';
import {
  type CommonPieces,
  type CommonSource,
  commonPieces,
  fillReceipt,
  type LogIdentity,
  notionalText,
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
      this.bad.push({ id: line.id, accountId: line.accountId });
    }
  }
}

const column = (name: string): number => lineColumns.indexOf(name);
const billedAt = column('billed');
const [requestedAt, servedAt] = [column('requested_model'), column('served_model')];
const [providerAt, locodeAt, streamEndAt] = [column('provider'), column('locode'), column('stream_end')];
const [attemptsAt, billAt, proofAt] = [column('attempts'), column('bill'), column('proof')];
const [credentialAt, ownerAt] = [column('credential_id'), column('credential_owner')];

/** As `receiptText` of the stored generation, with what many lines have in common made once. */
export function receiptOfLine(line: SettledLine, log: LogIdentity): string {
  const common = commonOf(line, log);
  const { form, id, bodyHashes } = line;
  const billed = form.cells[billedAt] === 't';
  const [request, answer] = bodyHashes === null ? [common.request, common.answer] : quotedHashes(bodyHashes);
  return fillReceipt(common.pieces, {
    answerSha256: answer,
    costUsd: billed ? usdText(line.chargePico) : '0',
    createdAt: timeText(line.createdAt),
    generation: isPlainId.test(id) ? `"${id}"` : JSON.stringify(id),
    notionalUsd: notionalText(line.notionalPico),
    requestSha256: request,
    usage: billed ? usageText(line) : 'null',
  });
}

const isPlainId = /^[\w-]+$/;
let second = Number.NaN;
let secondText = '';

/** As `toISOString`, which takes longer than all other members together. Lines of one second follow one another. */
function timeText(ms: number): string {
  const own = Math.floor(ms / 1_000);
  if (own !== second) {
    secondText = new Date(own * 1_000).toISOString().slice(0, -'000Z'.length);
    second = own;
  }
  return `${secondText}${String(ms - own * 1_000).padStart(3, '0')}Z`;
}

const separator = '","';
const decoded = Buffer.alloc(64);

/** Hexadecimal, as JSON. */
function quotedHashes(bodyHashes: string): [request: string, answer: string] {
  const hashLength = (bodyHashes.length - separator.length) / 2;
  decoded.write(bodyHashes.slice(0, hashLength), 0, 'base64url');
  decoded.write(bodyHashes.slice(-hashLength), 32, 'base64url');
  const hex = decoded.toString('hex');
  return [`"${hex.slice(0, 64)}"`, `"${hex.slice(64)}"`];
}

interface Common {
  readonly pieces: CommonPieces;
  /** As JSON. For lines that have not both hashes. */
  readonly request: string;
  readonly answer: string;
}

/** For one log; another one has others. */
let known = new WeakMap<LineForm, Common>();
let knownLog: LogIdentity | null = null;

function commonOf({ form, accountId }: SettledLine, log: LogIdentity): Common {
  if (knownLog !== log) {
    if (knownLog?.origin !== log.origin || !knownLog.salt.equals(log.salt)) known = new WeakMap();
    knownLog = log;
  }
  let common = known.get(form);
  if (common === undefined) {
    const facts = readProofCell(textOrNull(form.cells, proofAt));
    const [request, answer] = [JSON.stringify(facts.requestSha256), JSON.stringify(facts.answerSha256)];
    common = { pieces: commonPieces(sourceOf(form.cells, accountId), facts, log), request, answer };
    known.set(form, common);
  }
  return common;
}

const text = (cells: readonly string[], at: number): string => unescapeCell(cells[at]!);
const textOrNull = (cells: readonly string[], at: number): string | null =>
  cells[at] === noValue ? null : text(cells, at);

function sourceOf(cells: readonly string[], accountId: string): CommonSource {
  return {
    accountId,
    requestedModel: text(cells, requestedAt),
    servedModel: textOrNull(cells, servedAt),
    provider: textOrNull(cells, providerAt),
    locode: textOrNull(cells, locodeAt),
    attempts: JSON.parse(text(cells, attemptsAt)) as CommonSource['attempts'],
    bill: cells[billAt] === noValue ? null : readBill(text(cells, billAt)),
    streamEnd: textOrNull(cells, streamEndAt) as CommonSource['streamEnd'],
    credentialId: textOrNull(cells, credentialAt),
    credentialOwner: textOrNull(cells, ownerAt) as CommonSource['credentialOwner'],
  };
}
