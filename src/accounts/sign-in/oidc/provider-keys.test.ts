/** The keys of an identity provider: read when they are needed, and not for everybody who asks. */
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../tests/support/manual-clock.js';
import { ProviderKeys } from './provider-keys.js';

let clock: ManualClock;
let reads: number;
let body: string;
let keys: ProviderKeys;
beforeEach(() => {
  clock = new ManualClock();
  reads = 0;
  body = '{"keys": []}';
  const fetch = async () => {
    reads++;
    return new Response(body);
  };
  keys = new ProviderKeys({ fetch, clock, address: async () => 'https://login.example.com/keys' });
});

describe('keys', () => {
  it('are read once for many at the same time, and again after ten minutes', async () => {
    await Promise.all([keys.current(), keys.current(), keys.current()]);
    await keys.current();
    expect(reads).toBe(1);
    clock.advance(600_000);
    await keys.current();
    expect(reads).toBe(2);
  });

  it('are read again for unknown keys a limited number of times, for logouts and sign-ins each', async () => {
    const ask = async (use: 'sign-in' | 'logout') => {
      for (let i = 0; i < 50; i++) await keys.newerThan(await keys.current(), use);
    };
    await ask('logout');
    expect(reads).toBe(11);
    await ask('sign-in');
    expect(reads).toBe(31);
    clock.advance(30_000);
    await ask('logout');
    expect(reads).toBe(34);
  });

  it('that somebody else has read since are taken without reading', async () => {
    const old = await keys.current();
    const newer = await keys.newerThan(old, 'sign-in');
    expect(await keys.newerThan(old, 'logout')).toBe(newer);
    expect(reads).toBe(2);
  });

  it('leave out secrets, which would let anybody sign', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' };
    body = JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'a', alg: 'HS256' }, publicJwk] });
    const { find } = await keys.current();
    expect(await find({ alg: 'ES256', kid: 'a' }, {} as never)).toBeTruthy();
    await expect(find({ alg: 'HS256', kid: 'a' }, {} as never)).rejects.toThrow();
  });

  it.each(['{"keys": 7}', '[]', 'null', 'no', `{"keys": [${Array(101).fill('{"kty": "EC"}')}]}`, '{"keys": [null]}'])(
    'are refused where they are none: %s',
    async (text) => {
      body = text;
      await expect(keys.current()).rejects.toMatchObject({ fault: 'provider_answer' });
    },
  );
});
