/**
 * The receipt of one generation: canonical JSON (RFC 8785) with every field, null where it does not apply. Its bytes are a leaf of the
 * log, so what is written here never changes for a version `v`.
 */
import { hash } from 'node:crypto';
import { usdText } from '../base/money.js';
import type { Generation } from '../domain/generation.js';
import { type BillLines, unitOf } from '../wire/cost.js';
import { type ProofFacts, readProofCell } from './proof-facts.js';

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
  | 'credentialId'
  | 'credentialOwner'
  | 'notionalPico'
>;

export type CommonSource = Pick<
  ReceiptSource,
  | 'accountId'
  | 'attempts'
  | 'bill'
  | 'credentialId'
  | 'credentialOwner'
  | 'locode'
  | 'provider'
  | 'requestedModel'
  | 'servedModel'
  | 'streamEnd'
>;

/**
 * Receipts are made again from stored generations, so a change of their form is a new version, and the old form stays readable. The first
 * has no `project_policy`, and the second no `credential` and `notional_usd`.
 */
export const receiptVersion = 3;
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

/** The members of a receipt that differ from request to request, as JSON text. */
interface OwnMembers {
  readonly answerSha256: string;
  readonly costUsd: string;
  readonly createdAt: string;
  readonly generation: string;
  /** Without it, what stands around it is left out too: older receipts have none. */
  readonly notionalUsd: string;
  readonly requestSha256: string;
  readonly usage: string;
}

/** What stands before, between and after those members, which is the same for many requests. */
export type CommonPieces = readonly [string, string, string, string, string, string, string, string];

/** `version` is that of the batch in whose leaves the receipt is. */
export function receiptText(source: ReceiptSource, log: LogIdentity, version = receiptVersion): string {
  const facts = readProofCell(source.proof);
  return fillReceipt(commonPieces(source, facts, log, version), {
    answerSha256: json(facts.answerSha256),
    costUsd: usdText(source.billed ? source.costPico : 0n),
    createdAt: new Date(source.createdAt).toISOString(),
    generation: json(source.id),
    notionalUsd: version < 3 ? '' : notionalText(source.notionalPico ?? null),
    requestSha256: json(facts.requestSha256),
    usage: source.billed ? usageText(source) : 'null',
  });
}

/** Members are in the order of RFC 8785. Written by hand, because the log takes one for every request. */
export function commonPieces(
  source: CommonSource,
  facts: ProofFacts,
  { origin, salt }: LogIdentity,
  version = receiptVersion,
): CommonPieces {
  const ofProject = version === 1 ? '' : `,"project_policy":${json(facts.projectPolicy)}`;
  return [
    `{"account":"${accountHash(salt, source.accountId)}","answer_sha256":`,
    `,"attempts":[${source.attempts.map(attemptText).join(',')}],"carbon":${json(facts.carbon)}` +
      `,"catalogue":${json(facts.catalogue)},"cloud_act":${json(facts.cloudAct)},"cost_usd":"`,
    `","country":${json(facts.country)},"created_at":"`,
    `"${version < 3 ? '' : `,"credential":${credentialText(source)}`},"gates":${gatesText(facts.gates)},"gateway":${json(origin)},"generation":`,
    `,"locode":${json(source.locode)}${version < 3 ? '' : ',"notional_usd":'}`,
    `,"policy":${json(facts.policy)},"prices":${pricesText(source.bill)}` +
      `${ofProject},"provider":${json(source.provider)},"request_sha256":`,
    `,"requested_model":${json(source.requestedModel)},"served_model":${json(source.servedModel)}` +
      `,"stream_end":${json(source.streamEnd)},"usage":`,
    `,"v":${version}}`,
  ];
}

export function fillReceipt(common: CommonPieces, own: OwnMembers): string {
  return (
    `${common[0]}${own.answerSha256}${common[1]}${own.costUsd}${common[2]}${own.createdAt}${common[3]}${own.generation}` +
    `${common[4]}${own.notionalUsd}${common[5]}${own.requestSha256}${common[6]}${own.usage}${common[7]}`
  );
}

/** The list price of what a customer's own credential has paid for; null for the operator's. */
export function notionalText(pico: bigint | null): string {
  return pico === null ? 'null' : `"${usdText(pico)}"`;
}

/** Whose credential served; null where nobody did. */
function credentialText({ servedModel, credentialId, credentialOwner }: CommonSource): string {
  if (servedModel === null) return 'null';
  return credentialId == null
    ? '{"id":null,"owner":"operator"}'
    : `{"id":${json(credentialId)},"owner":${json(credentialOwner ?? 'account')}}`;
}

function json(value: string | number | boolean | null): string {
  return JSON.stringify(value);
}

function attemptText({ locode, outcome, provider }: Generation['attempts'][number]): string {
  return `{"locode":${json(locode)},"outcome":${json(outcome)},"provider":${json(provider)}}`;
}

function gatesText(gates: ProofFacts['gates']): string {
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

/** The numbers as they are, or as text. */
export function usageText(
  usage: Record<'cachedTokens' | 'completionTokens' | 'promptTokens' | 'reasoningTokens', number | string>,
): string {
  return (
    `{"cached_tokens":${usage.cachedTokens},"completion_tokens":${usage.completionTokens}` +
    `,"prompt_tokens":${usage.promptTokens},"reasoning_tokens":${usage.reasoningTokens}}`
  );
}
