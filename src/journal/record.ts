/**
 * The binary form of a journal record, and the only description of it.
 *
 * A record stands in a frame (frames.ts). Its content begins with the kind of the record (one byte: 1 final, 2 provisional, 3
 * void, which stands for nothing). Fields follow in any order, each with one byte that holds its number (upper six bits) and its type (lower two):
 *
 *   0 integer  7 bits a byte, lowest first, the eighth bit says that more follow; up to 2^53
 *   1 double   8 bytes
 *   2 text     its size as an integer, then UTF-8
 *   3 flag     true, without a value
 *
 * A field that is null, false or empty is left out. A reader passes over fields that it does not know, so a new field needs no new form.
 * The fields of an attempt and of a line of the bill follow the one that begins it.
 */
import type { AttemptRecord, Generation } from '../domain/generation.js';
import type { CostLine } from '../wire/cost.js';
import { closeFrame, FieldReader, FieldWriter, frameBytes, type Value } from './frames.js';

type RecordKind = 'final' | 'provisional' | 'void';
/** By the byte that stands for it. */
const kinds: readonly (RecordKind | undefined)[] = [undefined, 'final', 'provisional', 'void'];

/** The numbers of the fields that a generation has once. One that was used is never used for anything else. */
export const field = {
  ...{ id: 1, requestId: 2, accountId: 3, keyId: 4, keyName: 5, createdAt: 6, requestedModel: 7, servedModel: 8 },
  ...{ provider: 9, locode: 10, streamed: 11, status: 12, promptTokens: 13, completionTokens: 14, cachedTokens: 15 },
  ...{ reasoningTokens: 16, costPico: 17, billed: 18, latencyMs: 19, firstByteMs: 20, fallbackOccurred: 22 },
  ...{ finishReason: 23, streamEnd: 24, usageSource: 25, errorCode: 26, requestPolicy: 38, proof: 39, door: 48 },
  ...{
    projectId: 40,
    holderId: 41,
    endUser: 42,
    credentialId: 43,
    credentialOwner: 44,
    notionalPico: 45,
    countedPico: 46,
    skipped: 47,
  },
} as const;
/** Those of its lists, and of what is in them. */
export const part = {
  ...{ providerAttempted: 21, attempt: 27, attemptLocode: 28, attemptOutcome: 29, attemptStatus: 30 },
  ...{ attemptFirstByteMs: 31, attemptError: 32, bill: 33, billTier: 34, billLine: 35, lineCount: 36, lineRate: 37 },
} as const;
/** Writes records one after the other into a buffer that is there. */
export class RecordWriter extends FieldWriter {
  /** Returns false and writes nothing where the record does not fit. */
  write(kind: 'final' | 'provisional', g: Generation): boolean {
    const start = this.at;
    const { bytes } = this;
    this.at = start + frameBytes;
    bytes[this.at++] = kind === 'final' ? 1 : 2;
    try {
      this.#generation(g);
    } catch (error) {
      this.at = start;
      throw error;
    }
    const end = this.at;
    if (end > bytes.length) {
      this.at = start;
      return false;
    }
    closeFrame(bytes, start, end);
    return true;
  }

  #generation(g: Generation): void {
    this.text(field.id, g.id);
    this.text(field.requestId, g.requestId);
    this.text(field.accountId, g.accountId);
    this.text(field.keyId, g.keyId);
    this.text(field.keyName, g.keyName);
    this.number(field.createdAt, g.createdAt);
    this.text(field.requestedModel, g.requestedModel);
    this.text(field.servedModel, g.servedModel);
    this.text(field.provider, g.provider);
    this.text(field.locode, g.locode);
    this.flag(field.streamed, g.streamed);
    this.number(field.status, g.status);
    this.number(field.promptTokens, g.promptTokens);
    this.number(field.completionTokens, g.completionTokens);
    this.number(field.cachedTokens, g.cachedTokens);
    this.number(field.reasoningTokens, g.reasoningTokens);
    this.amount(field.costPico, g.costPico);
    this.flag(field.billed, g.billed);
    this.number(field.latencyMs, g.latencyMs);
    this.optional(field.firstByteMs, g.firstByteMs);
    for (const provider of g.providersAttempted) this.text(part.providerAttempted, provider);
    this.flag(field.fallbackOccurred, g.fallbackOccurred);
    this.text(field.finishReason, g.finishReason);
    this.text(field.streamEnd, g.streamEnd);
    this.text(field.usageSource, g.usageSource);
    this.text(field.errorCode, g.errorCode);
    for (const attempt of g.attempts) this.#attempt(attempt);
    if (g.bill !== null) {
      this.flag(part.bill, true);
      this.text(part.billTier, g.bill.tier);
      for (const line of g.bill.lines) this.#line(line);
    }
    if (g.requestPolicy != null) this.text(field.requestPolicy, JSON.stringify(g.requestPolicy));
    this.text(field.proof, g.proof);
    this.text(field.door, g.door);
    this.text(field.projectId, g.projectId);
    this.text(field.holderId, g.holderId);
    this.text(field.endUser, g.endUser);
    if (g.credentialId != null) this.#own(g);
    if (g.skipped != null) this.text(field.skipped, JSON.stringify(g.skipped));
  }

  /** Without the zeros that other amounts leave out: here they differ from null. */
  #own({ credentialId, credentialOwner, notionalPico, countedPico }: Generation): void {
    this.text(field.credentialId, credentialId);
    this.text(field.credentialOwner, credentialOwner);
    this.optionalAmount(field.notionalPico, notionalPico);
    this.optionalAmount(field.countedPico, countedPico);
  }

  #attempt({ provider, locode, outcome, status, first_byte_ms, error }: AttemptRecord): void {
    this.text(part.attempt, provider);
    this.text(part.attemptLocode, locode);
    this.text(part.attemptOutcome, outcome);
    this.optional(part.attemptStatus, status);
    this.optional(part.attemptFirstByteMs, first_byte_ms);
    this.text(part.attemptError, error);
  }

  #line({ name, count, rate }: CostLine): void {
    this.text(part.billLine, name);
    this.number(part.lineCount, count);
    this.amount(part.lineRate, rate);
  }
}

/** A record in a buffer of its own. */
export function recordBytes(kind: 'final' | 'provisional', generation: Generation): Buffer {
  for (let size = 1024; ; size *= 2) {
    const writer = new RecordWriter(Buffer.allocUnsafe(size));
    if (writer.write(kind, generation)) return writer.bytes.subarray(0, writer.at);
  }
}

/** Fills a place in which nothing stands. */
export function voidRecord(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes[frameBytes] = kinds.indexOf('void');
  closeFrame(bytes, 0, size);
  return bytes;
}

/** The kind of the record in an undamaged frame; undefined where a later version wrote a kind that this one does not know. */
export function kindIn(bytes: Buffer, start: number): RecordKind | undefined {
  return kinds[bytes[start + frameBytes]!];
}

/** The id in an undamaged frame. Throws where there is none. */
export function idIn(bytes: Buffer, start: number, end: number): string {
  const reader = new FieldReader(bytes, start + frameBytes + 1, end);
  while (reader.next()) if (reader.number === field.id) return String(reader.value);
  throw new TypeError('a record without an id');
}

/** Reads an undamaged frame. Throws where it holds no generation. */
export function readRecord(bytes: Buffer, start: number, end: number): Generation {
  const g = emptyGeneration();
  const reader = new FieldReader(bytes, start + frameBytes + 1, end);
  while (reader.next()) readField(g, reader.number, reader.value);
  if (g.id === '' || g.accountId === '') throw new TypeError('a record without an id or an account');
  return g;
}

type Draft = Required<Generation> & { bill: { lines: CostLine[]; tier: string | null } | null };

/** One literal, so that all have one shape: spread together, a record takes ten times as long to read. */
function emptyGeneration(): Draft {
  // biome-ignore format: a line for each field would take a page.
  return {
    id: '', requestId: '', accountId: '', keyId: '', keyName: '', createdAt: 0, requestedModel: '', servedModel: null, provider: null,
    locode: null, streamed: false, status: 0, promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0, costPico: 0n,
    billed: false, latencyMs: 0, firstByteMs: null, providersAttempted: [], fallbackOccurred: false, finishReason: null, streamEnd: null,
    usageSource: null, errorCode: null, attempts: [], bill: null, requestPolicy: null, door: null, proof: null,
    projectId: null, holderId: null, endUser: null, credentialId: null, credentialOwner: null, notionalPico: null, countedPico: null,
    skipped: null,
  };
}

/** By hand, because to look a field up by its name takes longer than everything else. */
function readField(g: Draft, number: number, value: Value): void {
  // biome-ignore format: one line for each field.
  switch (number) {
    case field.id: g.id = value as string; return;
    case field.requestId: g.requestId = value as string; return;
    case field.accountId: g.accountId = value as string; return;
    case field.keyId: g.keyId = value as string; return;
    case field.keyName: g.keyName = value as string; return;
    case field.requestedModel: g.requestedModel = value as string; return;
    case field.servedModel: g.servedModel = value as string; return;
    case field.provider: g.provider = value as string; return;
    case field.locode: g.locode = value as string; return;
    case field.finishReason: g.finishReason = value as string; return;
    case field.errorCode: g.errorCode = value as string; return;
    case field.proof: g.proof = value as string; return;
    case field.door: g.door = value as string; return;
    case field.projectId: g.projectId = value as string; return;
    case field.holderId: g.holderId = value as string; return;
    case field.credentialId: g.credentialId = value as string; return;
    case field.credentialOwner: g.credentialOwner = value as Draft['credentialOwner']; return;
    case field.notionalPico: g.notionalPico = BigInt(value); return;
    case field.countedPico: g.countedPico = BigInt(value); return;
    case field.endUser: g.endUser = value as string; return;
    case field.skipped: g.skipped = JSON.parse(value as string); return;
    case field.streamEnd: g.streamEnd = value as Draft['streamEnd']; return;
    case field.usageSource: g.usageSource = value as Draft['usageSource']; return;
    case field.createdAt: g.createdAt = value as number; return;
    case field.status: g.status = value as number; return;
    case field.promptTokens: g.promptTokens = value as number; return;
    case field.completionTokens: g.completionTokens = value as number; return;
    case field.cachedTokens: g.cachedTokens = value as number; return;
    case field.reasoningTokens: g.reasoningTokens = value as number; return;
    case field.latencyMs: g.latencyMs = value as number; return;
    case field.firstByteMs: g.firstByteMs = value as number; return;
    case field.streamed: g.streamed = true; return;
    case field.billed: g.billed = true; return;
    case field.fallbackOccurred: g.fallbackOccurred = true; return;
    case field.costPico: g.costPico = BigInt(value); return;
    case field.requestPolicy: g.requestPolicy = JSON.parse(value as string); return;
    default: readPart(g, number, value);
  }
}

function readPart(g: Draft, number: number, value: Value): void {
  const attempt = g.attempts[g.attempts.length - 1];
  const line = g.bill?.lines[g.bill.lines.length - 1] as { count: number; rate: bigint } | undefined;
  if (number === part.providerAttempted) g.providersAttempted.push(String(value));
  else if (number === part.attempt)
    g.attempts.push({
      provider: String(value),
      locode: '',
      outcome: '',
      status: null,
      first_byte_ms: null,
      error: null,
    });
  else if (number === part.bill) g.bill = { lines: [], tier: null };
  else if (number === part.billTier && g.bill) g.bill.tier = String(value);
  else if (number === part.billLine) g.bill?.lines.push({ name: String(value), count: 0, rate: 0n });
  else if (number === part.lineCount && line) line.count = Number(value);
  else if (number === part.lineRate && line) line.rate = BigInt(value);
  else if (attempt) readAttempt(attempt, number, value);
}

function readAttempt(attempt: AttemptRecord, number: number, value: Value): void {
  if (number === part.attemptLocode) attempt.locode = String(value);
  else if (number === part.attemptOutcome) attempt.outcome = String(value);
  else if (number === part.attemptStatus) attempt.status = Number(value);
  else if (number === part.attemptFirstByteMs) attempt.first_byte_ms = Number(value);
  else if (number === part.attemptError) attempt.error = String(value);
}
