/** Canonical JSON (RFC 8785) and its SHA-256, for what is hashed or signed. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** Throws for a value that JSON has no form for. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}

/** Lower-case hexadecimal. */
export function canonicalDigest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
}
