/** Single headers of a request without building the object of all of them, which would cost more than the rest of the head. */
import type { IncomingMessage } from 'node:http';
import { joinedHeader } from '../../base/raw-header.js';

/** A flat list of names and values as the object that node takes. */
export function headerObject(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) headers[flat[i]!] = flat[i + 1]!;
  return headers;
}

/** `name` in lower case. A header that was sent twice comes back joined with a comma, so that no first one wins (E15). */
export function rawHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  return joinedHeader(rawHeaders, name);
}
