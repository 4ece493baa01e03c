/**
 * Signed reasoning of a provider, packed into the `encrypted_content` of a reasoning item: clients send it back unread, and the provider
 * gets it back as it signed it.
 */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../../base/latin1.js';
import { requestExcessOf, type TextEncoding } from '../../wire/json-text.js';
import { isFields } from '../body.js';

const prefix = 'lodestone-1:';

/** `details` is the JSON text of `reasoning_details`, in latin1. */
export function packReasoning(details: string): string {
  return prefix + Buffer.from(details, 'latin1').toString('base64');
}

/** In the encoding of the request's strings; undefined where the content is not of this gateway. */
export function unpackReasoning(content: unknown, encoding: TextEncoding): unknown[] | undefined {
  if (typeof content !== 'string' || !content.startsWith(prefix)) return undefined;
  try {
    const bytes = Buffer.from(content.slice(prefix.length), 'base64');
    if (requestExcessOf(bytes) !== null) return undefined;
    const text = bytes.toString('latin1');
    let details: unknown = JSON.parse(decodeLatin1(asLatin1(text)));
    if (encoding === 'latin1') details = JSON.parse(encodeLatin1(JSON.stringify(details)));
    return Array.isArray(details) && details.every(isFields) ? details : undefined;
  } catch {
    return undefined;
  }
}
