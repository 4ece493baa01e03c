/** The body of a call to a provider. A large one comes in pieces, because to join them would take its memory again. */
import { bytesOfLatin1, type Latin1Text } from '../base/latin1.js';

export type OutgoingBody = Latin1Text | Buffer | readonly Buffer[];

export function outgoingLength(body: OutgoingBody): number {
  return Array.isArray(body) ? body.reduce((length, piece) => length + piece.length, 0) : body.length;
}

/** All bytes in one piece. */
export function outgoingBytes(body: OutgoingBody): Buffer {
  if (typeof body === 'string') return bytesOfLatin1(body);
  return Buffer.isBuffer(body) ? body : Buffer.concat(body);
}
