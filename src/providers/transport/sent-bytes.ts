/** A request as it is kept in memory, and as text. */
import type { ChatRequest } from '../../wire/chat-request.js';
import { readable } from '../../wire/json-text.js';
import type { SentTexts } from '../classify/sent-strings.js';

export interface SentBytes {
  readonly body: string | Uint8Array;
  /** What the client wrote, where the body is a translation of it. */
  readonly request: { readonly members: string | Uint8Array; readonly encoding: ChatRequest['encoding'] } | null;
  readonly ours: readonly string[];
}

export function sentTexts({ body, request, ours }: SentBytes): SentTexts {
  const texts = [textOf(body, 'latin1')];
  if (request) texts.push(textOf(request.members, request.encoding));
  return { texts, ours };
}

function textOf(text: string | Uint8Array, encoding: ChatRequest['encoding']): string {
  if (typeof text === 'string') return readable(text, encoding);
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8');
}
