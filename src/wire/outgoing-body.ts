/** Bodies as they are sent: of a call to a provider, and of an answer to a client. */
import { Buffer } from 'node:buffer';
import { bytesOfLatin1, type Latin1Text } from '../base/latin1.js';

/** Of a call to a provider. A large one comes in pieces, because to join them would take its memory again. */
export type OutgoingBody = Latin1Text | Buffer | readonly Buffer[];

export function outgoingLength(body: OutgoingBody): number {
  return Array.isArray(body) ? body.reduce((length, piece) => length + piece.length, 0) : body.length;
}

/** All bytes in one piece. */
export function outgoingBytes(body: OutgoingBody): Buffer {
  if (typeof body === 'string') return bytesOfLatin1(body);
  return Buffer.isBuffer(body) ? body : Buffer.concat(body);
}

/** More than the head of an answer has. A longer one is written by itself. */
export const headRoom = 1280;

/** A whole answer as the bytes that are hashed and sent, with room before them, so that one write sends the head and the body. */
export class AnswerBytes {
  /** The body begins behind the room for the head. */
  readonly bytes: Buffer;
  readonly length: number;

  constructor(text: string, encoding: 'latin1' | 'utf8') {
    this.length = encoding === 'latin1' ? text.length : Buffer.byteLength(text);
    this.bytes = Buffer.allocUnsafe(headRoom + this.length);
    this.bytes.write(text, headRoom, encoding);
  }

  get body(): Buffer {
    return this.bytes.subarray(headRoom);
  }
}
