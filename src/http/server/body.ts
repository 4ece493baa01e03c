/** Request bodies: received up to the limit and no further; those of the control API are then read as one JSON object. */

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { largeTextBytes, spaceFor } from '../../base/large-memory.js';
import { collectYoung } from '../../base/v8-settings.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { type BodyHold, type BodyMemory, noAccount } from '../../limits/body-memory.js';
import { bodyBytesMax, bodyTooLarge, checkBodyLength } from '../../pipeline/admit.js';
import { isJsonType } from '../../pipeline/caller.js';
import { bytesTooDeep, nestingMax } from '../../wire/json-text.js';
import { bodyRefusalOf } from './node-request.js';

/**
 * No valid body of the control API comes near this. Parsing more here would hold up other callers, so it is refused unparsed. Chat
 * requests of this size are parsed off the main thread.
 */
const controlBodyBytesMax = 262_144;

/** Requests whose client waits for `100 Continue` before it sends the body. */
const waitsForContinue = new WeakMap<IncomingMessage, ServerResponse>();

export function markAwaitsContinue(req: IncomingMessage, res: ServerResponse): void {
  waitsForContinue.set(req, res);
}

/** What the head says of the body's length: 0 where there is none, null where it is not known. */
export function announcedLength({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/** Before the body is read: its announced length, and the memory for it. A chunked body is cut off while it is received. */
export function checkAnnouncedBody(request: FastifyRequest, bodyMemory: Pick<BodyMemory, 'check'>): void {
  checkBodyLength(bodyMemory, ownerOf(request), announcedLength(request.raw));
}

/** Whose memory a body takes. */
function ownerOf(request: FastifyRequest): string {
  if (request.identity) return request.identity.account.id;
  return request.url.startsWith('/admin/') ? 'operator' : noAccount;
}

interface BodyTask {
  readonly req: IncomingMessage;
  readonly hold: BodyHold;
  /** A longer body is read to its end, but thrown away. */
  readonly keptBytesMax: number;
  /** null where the body was thrown away. */
  done(body: Buffer | null): void;
  failed(error: Error): void;
}

/** Receives a body. Calls `done` or `failed`, once. Returns a function that gives up with an error. */
export function receiveBody({ req, hold, keptBytesMax, done, failed }: BodyTask): (error: Error) => void {
  const received = new ReceivedBytes(announcedLength(req));
  let over = false;
  const giveUp = (error: Error): void => {
    if (over) return;
    over = true;
    req.off('data', take);
    // Released at once: the rest of a refused body may still take long to come.
    received.forget();
    hold.release();
    failed(error);
  };
  const take = (chunk: Buffer): void => {
    const length = received.length + chunk.length;
    const kept = length <= keptBytesMax;
    const refusal = length > bodyBytesMax ? tooLarge() : kept ? hold.add(chunk.length) : null;
    if (refusal) giveUp(refusal);
    else received.add(chunk, kept);
  };
  const refusal = bodyRefusalOf(req);
  if (refusal) {
    giveUp(refusal);
    return giveUp;
  }
  req.on('data', take);
  req.on('end', () => {
    if (over) return;
    over = true;
    hold.received();
    done(received.length > keptBytesMax ? null : received.whole());
  });
  hold.receive(req, giveUp);
  return giveUp;
}

/** After so many bytes of a large body, the pieces that were copied are freed: V8 would wait for 64 MB of them. */
const collectedBytes = 8 * 1024 * 1024;

/** The pieces of a body. Those of a large one are put into one space: to join them in the end would take twice the memory. */
class ReceivedBytes {
  length = 0;
  private chunks: Buffer[] = [];
  private space: Buffer | null = null;

  constructor(private readonly announced: number | null) {}

  add(chunk: Buffer, isKept: boolean): void {
    const before = this.length;
    this.length += chunk.length;
    if (!isKept) {
      this.forget();
      return;
    }
    if (this.space) chunk.copy(this.space, before);
    else this.chunks.push(chunk);
    if (this.length < largeTextBytes) return;
    this.space ??= this.openSpace();
    if (Math.floor(before / collectedBytes) < Math.floor(this.length / collectedBytes)) collectYoung();
  }

  whole(): Buffer {
    if (this.space) return this.space.length === this.length ? this.space : this.space.subarray(0, this.length);
    return this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.length);
  }

  forget(): void {
    this.chunks = [];
    this.space = null;
  }

  private openSpace(): Buffer {
    const space = spaceFor(this.announced ?? bodyBytesMax);
    let at = 0;
    for (const chunk of this.chunks) at += chunk.copy(space, at);
    this.chunks = [];
    return space;
  }
}

const tooLarge = () => bodyTooLarge(`over ${bodyBytesMax} bytes`);

/** A body of the control API counts as held while it is received; where it is kept for longer, its handler releases the hold. */
export async function readControlBody(
  request: FastifyRequest,
  bodyMemory: Pick<BodyMemory, 'check' | 'open'>,
  keptBytesMax = controlBodyBytesMax,
): Promise<Buffer> {
  const req = request.raw;
  checkAnnouncedBody(request, bodyMemory);
  waitsForContinue.get(req)?.writeContinue();
  const hold = bodyMemory.open(ownerOf(request));
  request.bodyHold = hold;
  return new Promise((resolve, reject) => {
    const done = (body: Buffer | null) => {
      if (keptBytesMax === controlBodyBytesMax) hold.release();
      resolve(body ?? oversized);
    };
    const giveUp = receiveBody({ req, hold, keptBytesMax, done, failed: reject });
    const cutOff = () => giveUp(gatewayError('bad_http', { reason: 'the body was cut off' }));
    req.on('error', cutOff).on('close', cutOff);
  });
}

/** Stands for a body that was read and thrown away because it is over `controlBodyBytesMax`. */
const oversized = Buffer.alloc(0);
const tooLong = `is larger than the ${controlBodyBytesMax} bytes that this endpoint takes`;

/** The body as it came, for an endpoint that checks a signature over it. */
export function rawBody(request: FastifyRequest): Buffer {
  const bytes = request.body as Buffer | undefined;
  if (bytes === oversized) throw notJson(tooLong);
  return bytes ?? Buffer.alloc(0);
}

/** The body as a JSON object. Every fault is a 400 without `param`. */
export function jsonBody(request: FastifyRequest): Record<string, unknown> {
  const bytes = request.body as Buffer | undefined;
  if (bytes === oversized) throw notJson(tooLong);
  if (bytes === undefined || bytes.length === 0) throw notJson('is empty');
  if (!isJsonType(request.headers['content-type'])) throw notJson('was not sent as JSON');
  if (!isUtf8(bytes)) throw notJson('is not valid UTF-8');
  if (bytesTooDeep(bytes)) throw notJson(`is nested deeper than ${nestingMax} levels`);
  const value = parsed(bytes.toString('utf8').replace(/^\ufeff/, ''));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notJson('is not a JSON object');
  return value as Record<string, unknown>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson('is not valid JSON');
  }
}

function notJson(reason: string) {
  return gatewayError('body_not_json', { reason });
}
