/** Hashes the bytes of a stream as they are handed to the connection. */
import { createHash, type Hash } from 'node:crypto';
import type { Latin1Text } from '../base/latin1.js';
import type { Caller } from './caller.js';

export class AnswerHash {
  /** Made with the first text, because most requests are not streamed. */
  private hash: Hash | null = null;
  private result: string | null = null;

  constructor(private readonly caller: Pick<Caller, 'gone'>) {}

  /** Called before the text is sent. Nothing is sent to a caller that has left. */
  add(text: Latin1Text): void {
    if (this.caller.gone || text === '') return;
    this.hash ??= createHash('sha256');
    this.hash.update(text, 'latin1');
  }

  /** The hash, with what is sent last; base64url. Nothing can be added afterwards. */
  end(text: Latin1Text | null): string {
    if (this.result === null) {
      if (text !== null) this.add(text);
      this.result = (this.hash ?? createHash('sha256')).digest('base64url');
    }
    return this.result;
  }
}
