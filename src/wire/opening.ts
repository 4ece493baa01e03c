/** The beginning of a conversation, up to and with the first message of the user: the same in all of its turns. */
import { createHash, hash } from 'node:crypto';
import { asLatin1, decodeLatin1 } from '../base/latin1.js';
import type { ChatRequest } from './chat-request.js';
import { findMembers, memberValue } from './json-members.js';
import type { TextEncoding } from './json-text.js';
import { type LongTexts, partsOf } from './long-texts.js';

/** A hash of the opening; null where no message is of the user. Large requests have it already. */
export function openingOf({ opening, members, encoding }: ChatRequest, texts: LongTexts | null = null): string | null {
  if (opening !== undefined) return opening;
  if (typeof members !== 'string') return null;
  const body = `{${members}}`;
  const found = findMembers(body);
  const messages = found && memberValue(body, found, 'messages');
  const text = messages ? openingText(messages, encoding) : null;
  if (text === null) return null;
  return texts ? hashWithTexts(text, texts) : hash('sha256', text, 'base64url');
}

/** A message is parsed up to this length, its long texts not counted. Of a longer one the beginning has to do, as the client wrote it. */
const parsedMax = 2 * 1024 * 1024;

/** `messages` is the JSON text of the array. Each message is written anew, so that blanks and escapes make no difference. */
function openingText(messages: string, encoding: TextEncoding): string | null {
  let opening = '';
  for (let start = messages.indexOf('{'); start >= 0; ) {
    const end = objectEnd(messages, start);
    const text = messages.slice(start, end);
    start = messages.indexOf('{', end);
    if (text.length > parsedMax) {
      opening += `${text.length} ${text.slice(0, parsedMax)}`;
      const found = findMembers(text);
      if (found && memberValue(text, found, 'role') === '"user"') return opening;
      continue;
    }
    const message = JSON.parse(encoding === 'latin1' ? decodeLatin1(asLatin1(text)) : text) as { role?: unknown };
    opening += JSON.stringify(message);
    if (message.role === 'user') return opening;
  }
  return null;
}

/** The same hash as if the long texts had never been taken out. */
function hashWithTexts(opening: string, texts: LongTexts): string {
  const sum = createHash('sha256');
  texts.eachPiece(opening, 'utf8', (piece, isLong) => {
    if (!isLong) sum.update(piece);
    else for (const part of partsOf(piece)) sum.update(writtenAnew(part));
  });
  return sum.digest('base64url');
}

/** As `JSON.stringify` writes it, without the quotes. */
function writtenAnew(part: Buffer): Buffer | string {
  return part.includes(backslash) ? JSON.stringify(JSON.parse(`"${part.toString('utf8')}"`)).slice(1, -1) : part;
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
