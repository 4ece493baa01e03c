/** Bodies as they are sent: of a call to a provider, and of an answer to a client. */
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
const headRoom = 1280;

/** A whole answer as the bytes that are hashed and sent, with room before them, so that one write sends the head and the body. */
export class AnswerBytes {
  private readonly bytes: Buffer;

  constructor(text: string, encoding: 'latin1' | 'utf8') {
    const length = encoding === 'latin1' ? text.length : Buffer.byteLength(text);
    this.bytes = Buffer.allocUnsafe(headRoom + length);
    this.bytes.write(text, headRoom, encoding);
  }

  get body(): Buffer {
    return this.bytes.subarray(headRoom);
  }

  get length(): number {
    return this.bytes.length - headRoom;
  }

  /** Head and body in one piece; null where there is no room for the head. */
  behind(head: Uint8Array): Buffer | null {
    const start = headRoom - head.length;
    if (start < 0) return null;
    this.bytes.set(head, start);
    return this.bytes.subarray(start);
  }
}
