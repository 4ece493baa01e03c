/** Shared parts of the embeddings and rerank APIs of dialects. */
import { asLatin1, type Latin1Text } from '../../../base/latin1.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import type { TaskObstacle } from '../dialect.js';

export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}

/** The body of a call from JSON members in the encoding of the request. */
export function bodyOfMembers(members: readonly string[], encoding: TextEncoding): Latin1Text | Buffer {
  const text = `{${members.join(',')}}`;
  return encoding === 'latin1' ? asLatin1(text) : Buffer.from(text, 'utf8');
}

/** JSON text of ASCII characters only, so that it fits any encoding. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export const tokensNotTaken: TaskObstacle = { param: 'input', reason: 'takes texts only, and no tokens,' };
