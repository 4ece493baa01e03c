/** Opens values that LiteLLM has encrypted: XSalsa20-Poly1305 under the SHA-256 of its salt key or master key. */
import { createHash } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';

const nonceBytes = 24;

/** null where the key is another, or the value is no such box. */
export function openBox(value: string, key: string): string | null {
  const bytes = Buffer.from(value.replaceAll('-', '+').replaceAll('_', '/'), 'base64');
  if (bytes.length <= nonceBytes + 16) return null;
  const secret = createHash('sha256').update(key).digest();
  try {
    const text = xsalsa20poly1305(secret, bytes.subarray(0, nonceBytes)).decrypt(bytes.subarray(nonceBytes));
    return Buffer.from(text).toString('utf8');
  } catch {
    return null;
  }
}
