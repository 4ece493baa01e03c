/** The client of one request: what it sent, and how to answer it. */
import { Buffer } from 'node:buffer';
import type { Latin1Text } from '../base/latin1.js';
import type { MaybePromise } from '../base/turn.js';
import type { Identity } from '../domain/account.js';
import type { BodyHold } from '../limits/body-memory.js';
import type { Origin } from '../territory/territories.js';

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

/** A large one comes in pieces. */
export type AnswerBody = AnswerBytes | readonly Uint8Array[];

export function bytesIn(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

export interface Caller {
  /** Where the request comes from, as far as that is known. */
  readonly origin: Origin;
  /**
   * Set once the key is verified, or from the start where a session of the dashboard identifies the caller. From then on every
   * answer has the headers of the key's limits.
   */
  identity: Identity | null;
  readonly authorization: string | undefined;
  /** One header of the request, `name` in lower case. Several lines are joined with commas. */
  header(name: string): string | undefined;
  readonly contentType: string | undefined;
  /** null where the body is chunked or there is none. */
  readonly contentLength: number | null;
  /** The connection is closed: nothing can be delivered any more. */
  readonly gone: boolean;
  /** Called once when the caller leaves before its answer is complete. */
  onGone: (() => void) | null;
  /**
   * The body, at once where it arrived with the head. Fails with request_too_large past the limit, with the refusal of `hold` where it
   * has no room, and with CallerGone.
   */
  readBody(hold: BodyHold): MaybePromise<Buffer>;
  /** The body that arrived with the head, before it is read; null where it did not. */
  bodyAtHand(): Buffer | null;
  /** The body is not held any more, or is small. */
  releaseBody(): void;
  /** A whole 200. `headers` is a flat list of names and values. */
  answer(headers: readonly string[], body: AnswerBody): void;
  openStream(headers: readonly string[]): void;
  /** False = slow, wait for onDrain. */
  write(text: Latin1Text): boolean;
  onDrain: (() => void) | null;
  endStream(text: Latin1Text): void;
}

export class CallerGone extends Error {}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:[;,]|$)/i;

/** True for the content types of JSON bodies. A header that was sent twice is joined by a comma. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType === 'application/json' || (contentType !== undefined && jsonType.test(contentType));
}
