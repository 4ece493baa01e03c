/**
 * Hashes the bytes of an answer as they are handed to the connection. Long texts are hashed in pieces, with a turn for other requests
 * after each: 8 MB take 30 ms and more on a processor without instructions for it.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Latin1Text } from '../base/latin1.js';
import type { MaybePromise } from '../base/maybe-promise.js';
import { bodyHash } from '../proof/proof-facts.js';
import type { Caller } from './caller.js';

const pieceMax = 256 * 1024;

/** Short texts of a stream are joined up to this length: a call of the hash costs as much as half a kilobyte of text. */
const joinedMax = 2 * 1024;

/** Of a stream. */
export class AnswerHash {
  /** Made with the first text, because most requests are not streamed. */
  private hash: Hash | null = null;
  /** Short texts that are not hashed yet. */
  private joined = '';
  /** Texts that wait for their turn. */
  private waiting: Latin1Text[] = [];
  private running: Promise<void> | null = null;
  private result: MaybePromise<string> | null = null;

  constructor(private readonly caller: Pick<Caller, 'gone'>) {}

  /** Called before the text is sent. Nothing is sent to a caller that has left. */
  add(text: Latin1Text): void {
    if (this.caller.gone || text === '') return;
    this.hash ??= createHash('sha256');
    if (this.running === null && text.length <= pieceMax) {
      this.joined += text;
      if (this.joined.length >= joinedMax) this.takeJoined(this.hash);
      return;
    }
    this.takeJoined(this.hash);
    this.waiting.push(text);
    this.running ??= this.hashWaiting(this.hash);
  }

  /** The hash, with what is sent last; base64url. Nothing can be added afterwards. */
  end(text: Latin1Text | null): MaybePromise<string> {
    if (this.result === null) {
      if (text !== null) this.add(text);
      const hash = this.hash ?? createHash('sha256');
      this.takeJoined(hash);
      this.result = this.running ? this.running.then(() => hash.digest('base64url')) : hash.digest('base64url');
    }
    return this.result;
  }

  private takeJoined(hash: Hash): void {
    if (this.joined === '') return;
    hash.update(this.joined, 'latin1');
    this.joined = '';
  }

  private async hashWaiting(hash: Hash): Promise<void> {
    for (let text = this.waiting.shift(); text !== undefined; text = this.waiting.shift()) {
      await updateInPieces(text.length, (start, end) => hash.update(text.slice(start, end), 'latin1'));
    }
    this.running = null;
  }
}

/** Of an answer that is sent at once. */
export function hashOfAnswer(text: string, encoding: BufferEncoding): MaybePromise<string> {
  const bytes = Buffer.from(text, encoding);
  return bytes.length <= pieceMax ? bodyHash(bytes) : hashInPieces(bytes);
}

async function hashInPieces(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  await updateInPieces(bytes.length, (start, end) => hash.update(bytes.subarray(start, end)));
  return hash.digest('base64url');
}

async function updateInPieces(length: number, update: (start: number, end: number) => void): Promise<void> {
  for (let start = 0; start < length; start += pieceMax) {
    await new Promise(setImmediate);
    update(start, Math.min(start + pieceMax, length));
  }
}
