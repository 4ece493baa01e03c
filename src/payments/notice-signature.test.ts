import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { signedHeaders } from './notice-signature.js';

describe('the signature of a notice', () => {
  const body = '{"type":"balance.low"}';
  const verify = (secret: string, headers: Record<string, string>, payload = body) =>
    new OpenAI({ apiKey: 'none' }).webhooks.verifySignature(payload, headers, secret);

  it.each([`whsec_${Buffer.from('a key of some length').toString('base64')}`, 'a-plain-secret'])(
    'is what a library for Standard Webhooks verifies: %s',
    async (secret) => {
      const headers = signedHeaders(secret, 'ntc-1', Date.now(), body);
      await expect(verify(secret, headers)).resolves.toBeUndefined();
      await expect(verify(secret, headers, `${body} `)).rejects.toThrow();
      await expect(verify(`${secret}x`, signedHeaders('another', 'ntc-1', Date.now(), body))).rejects.toThrow();
      await expect(verify(secret, { ...headers, 'webhook-id': 'ntc-2' })).rejects.toThrow();
      await expect(verify(secret, signedHeaders(secret, 'ntc-1', Date.now() - 600_000, body))).rejects.toThrow();
    },
  );
});
