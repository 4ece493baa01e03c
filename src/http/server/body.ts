/** Bodies of the control plane: read up to the limit of part 8 and no further, then taken as one JSON object (check 9). */

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { BodyMemory } from '../../limits/body-memory.js';
import { bodyBytesMax } from '../../pipeline/admit/checks.js';
import { bytesTooDeep, nestingMax } from '../../pipeline/validate/nesting.js';

/**
 * No valid body of the control plane comes near this. Parsing more than that here would hold up the other callers
 *, so it is refused unparsed; chat requests have their own way.
 */
const controlBodyBytesMax = 262_144;

const jsonType = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Requests whose client waits for `100 Continue` before it sends the body. */
const waitsForContinue = new WeakMap<IncomingMessage, ServerResponse>();

export function markAwaitsContinue(req: IncomingMessage, res: ServerResponse): void {
  waitsForContinue.set(req, res);
}

/** Before the body is read: its announced length, and the memory for it. A chunked body is cut off in `readBody`. */
export function checkBodyLength(request: FastifyRequest, bodyMemory: Pick<BodyMemory, 'check'>): void {
  const { headers } = request.raw;
  const length = Number(headers['content-length'] ?? 0);
  if (length > bodyBytesMax) throw tooLarge(`${length} bytes`);
  bodyMemory.check(ownerOf(request), headers['transfer-encoding'] === undefined ? length : null);
}

/** Whose memory a body takes. Senders without an account share one part, so that they can keep out only one another. */
function ownerOf(request: FastifyRequest): string {
  if (request.identity) return request.identity.account.id;
  return request.url.startsWith('/admin/') ? 'operator' : 'no account';
}

export function tooLarge(found: string) {
  return gatewayError('request_too_large', { limitBytes: bodyBytesMax, found });
}

/**
 * `keptBytesMax`: a longer body is read to its end, but thrown away. A body counts as held while it is received; where it is kept
 * for longer than that, whoever reads it releases the hold.
 */
export async function readBody(
  request: FastifyRequest,
  bodyMemory: Pick<BodyMemory, 'check' | 'open'>,
  keptBytesMax = controlBodyBytesMax,
): Promise<Buffer> {
  const req = request.raw;
  checkBodyLength(request, bodyMemory);
  waitsForContinue.get(req)?.writeContinue();
  const hold = bodyMemory.open(ownerOf(request));
  request.bodyHold = hold;
  let chunks: Buffer[] = [];
  let received = 0;
  return new Promise((resolve, reject) => {
    const finish = () => {
      req.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      hold.received();
      if (keptBytesMax === controlBodyBytesMax) hold.release();
    };
    const refuse = (error: Error) => {
      finish();
      hold.release();
      chunks = [];
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > bodyBytesMax) refuse(tooLarge('larger'));
      else if (received <= keptBytesMax) keep(chunk);
      else chunks = [];
    };
    const keep = (chunk: Buffer) => {
      const refusal = hold.add(chunk.length);
      if (refusal) refuse(refusal);
      else chunks.push(chunk);
    };
    const onEnd = () => {
      finish();
      resolve(received > keptBytesMax ? oversized : Buffer.concat(chunks));
    };
    const onCut = () => refuse(gatewayError('bad_http', { reason: 'the body was cut off' }));
    req.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
    hold.receive(req, refuse);
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
  if (!jsonType.test(request.headers['content-type'] ?? '')) throw notJson('was not sent as JSON');
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
