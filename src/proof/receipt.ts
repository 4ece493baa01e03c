/**
 * The receipt of one generation: canonical JSON (RFC 8785) with every field, null where it does not apply. Its bytes are a leaf of the
 * log, so what is written here never changes for a version `v`.
 */
import { hash } from 'node:crypto';
import { usdText } from '../base/money.js';
import type { Generation } from '../domain/generation.js';
import { type BillLines, unitOf } from '../wire/cost.js';
import { readProofCell } from './proof-facts.js';

/** What is the same for all receipts of a log. */
export interface LogIdentity {
  readonly origin: string;
  /** Makes the hash of an account useless for who does not know it. */
  readonly salt: Buffer;
}

export type ReceiptSource = Pick<
  Generation,
  | 'id'
  | 'accountId'
  | 'createdAt'
  | 'requestedModel'
  | 'servedModel'
  | 'provider'
  | 'locode'
  | 'attempts'
  | 'billed'
  | 'bill'
  | 'costPico'
  | 'promptTokens'
  | 'completionTokens'
  | 'cachedTokens'
  | 'reasoningTokens'
  | 'streamEnd'
  | 'proof'
>;

/** Receipts are made again from stored generations, so a change of their form is a new version, and the old form stays readable. */
export const receiptVersion = 1;
const million = 1_000_000n;

/** The hashes of the accounts that were seen last, under one salt: there is one log. */
const accountHashes = new Map<string, string>();
const accountsMax = 10_000;
let saltOfHashes: Buffer | null = null;

function accountHash(salt: Buffer, accountId: string): string {
  if (saltOfHashes === null || !salt.equals(saltOfHashes) || accountHashes.size >= accountsMax) {
    accountHashes.clear();
    saltOfHashes = salt;
  }
  let found = accountHashes.get(accountId);
  if (found === undefined) {
    found = hash('sha256', Buffer.concat([salt, Buffer.from(accountId, 'utf8')]));
    accountHashes.set(accountId, found);
  }
  return found;
}

/** Members are in the order of RFC 8785. Written by hand, because the log takes one for every request. */
export function receiptText(source: ReceiptSource, { origin, salt }: LogIdentity): string {
  const facts = readProofCell(source.proof);
  return (
    `{"account":"${accountHash(salt, source.accountId)}","answer_sha256":${json(facts.answerSha256)}` +
    `,"attempts":[${source.attempts.map(attemptText).join(',')}],"carbon":${json(facts.carbon)}` +
    `,"catalogue":${json(facts.catalogue)},"cloud_act":${json(facts.cloudAct)}` +
    `,"cost_usd":"${usdText(source.billed ? source.costPico : 0n)}","country":${json(facts.country)}` +
    `,"created_at":"${new Date(source.createdAt).toISOString()}","gates":${gatesText(facts.gates)}` +
    `,"gateway":${json(origin)},"generation":${json(source.id)},"locode":${json(source.locode)}` +
    `,"policy":${json(facts.policy)},"prices":${pricesText(source.bill)},"provider":${json(source.provider)}` +
    `,"request_sha256":${json(facts.requestSha256)},"requested_model":${json(source.requestedModel)}` +
    `,"served_model":${json(source.servedModel)},"stream_end":${json(source.streamEnd)}` +
    `,"usage":${usageText(source)},"v":${receiptVersion}}`
  );
}

/** Most texts of a receipt need no escapes. */
const isPlain = /^[\w\-./:+ ]*$/;

function json(value: string | number | boolean | null): string {
  return typeof value === 'string' && isPlain.test(value) ? `"${value}"` : JSON.stringify(value);
}

function attemptText({ locode, outcome, provider }: Generation['attempts'][number]): string {
  return `{"locode":${json(locode)},"outcome":${json(outcome)},"provider":${json(provider)}}`;
}

function gatesText(gates: ReturnType<typeof readProofCell>['gates']): string {
  return gates === null
    ? 'null'
    : `[${gates.map(([name, removed]) => `{"name":${json(name)},"removed":${removed}}`).join(',')}]`;
}

/**
 * USD per million tokens, of tools and requests per one. A class that was billed at a second price has it under its name with `.2`.
 */
function pricesText(bill: BillLines | null): string {
  if (bill === null) return 'null';
  const prices = new Map<string, string>();
  for (const { name, rate } of bill.lines) {
    let own = name;
    for (let n = 2; prices.has(own); n++) own = `${name}.${n}`;
    prices.set(own, usdText(unitOf(name) === 'token' ? rate * million : rate));
  }
  const members = [...prices.keys()].sort().map((name) => `${json(name)}:"${prices.get(name)}"`);
  return `{${members.join(',')}}`;
}

function usageText(source: ReceiptSource): string {
  if (!source.billed) return 'null';
  return (
    `{"cached_tokens":${source.cachedTokens},"completion_tokens":${source.completionTokens}` +
    `,"prompt_tokens":${source.promptTokens},"reasoning_tokens":${source.reasoningTokens}}`
  );
}
