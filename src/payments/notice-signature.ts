/**
 * How a notice is signed, so that its receiver can tell it from anybody else's: the headers of the Standard Webhooks convention, which
 * libraries for most languages verify (OpenAI's client is one).
 */
import { createHmac } from 'node:crypto';

const base64Prefix = 'whsec_';

export function signedHeaders(secret: string, id: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** `whsec_` and base64, as the convention has it; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith(base64Prefix)
    ? Buffer.from(secret.slice(base64Prefix.length), 'base64')
    : Buffer.from(secret);
}
