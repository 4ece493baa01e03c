/** The beginning of a conversation, up to and with the first message of the user: the same in all of its turns. */
import { hash } from 'node:crypto';
import { asLatin1, decodeLatin1 } from '../base/latin1.js';
import type { ChatRequest } from './chat-request.js';
import { findMembers, memberValue } from './json-members.js';
import type { TextEncoding } from './json-text.js';

/** A hash of the opening; null where no message is of the user. Large requests have it already. */
export function openingOf({ opening, members, encoding }: ChatRequest): string | null {
  if (opening !== undefined) return opening;
  if (typeof members !== 'string') return null;
  const body = `{${members}}`;
  const found = findMembers(body);
  const messages = found && memberValue(body, found, 'messages');
  return messages ? openingHash(messages, encoding) : null;
}

/** `messages` is the JSON text of the array. Each message is written anew, so that blanks and escapes make no difference. */
function openingHash(messages: string, encoding: TextEncoding): string | null {
  let opening = '';
  for (let start = messages.indexOf('{'); start >= 0; ) {
    const end = objectEnd(messages, start);
    const text = messages.slice(start, end);
    const message = JSON.parse(encoding === 'latin1' ? decodeLatin1(asLatin1(text)) : text) as { role?: unknown };
    opening += JSON.stringify(message);
    if (message.role === 'user') return hash('sha256', opening, 'base64url');
    start = messages.indexOf('{', end);
  }
  return null;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The index behind the object that begins at `start`. The text is valid JSON. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (code === openBrace) depth++;
    else if (code === closeBrace && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The index of the quote that ends the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
