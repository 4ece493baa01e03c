/** The body of a call to a provider, as it is sent. */
import { Buffer } from 'node:buffer';
import { bytesOfLatin1, type Latin1Text } from '../base/latin1.js';

/** A large one comes in pieces, because to join them would take its memory again. */
export type OutgoingBody = Latin1Text | Buffer | readonly Buffer[];

/** All bytes in one piece. */
export function outgoingBytes(body: OutgoingBody): Buffer {
  if (typeof body === 'string') return bytesOfLatin1(body);
  return Buffer.isBuffer(body) ? body : Buffer.concat(body);
}
