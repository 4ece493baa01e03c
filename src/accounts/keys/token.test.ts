import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Account, type ApiKey, type Identity, openTerms } from '../../domain/account.js';
import type { Project } from '../../domain/organisation.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { checkTokenShape, keyLabel, makeToken, verifyToken } from './token.js';

describe('making a token', () => {
  it('is sk-lr- and 32 random bytes in base64url: a body of exactly 43 characters', () => {
    expect(makeToken().token).toMatch(/^sk-lr-[A-Za-z0-9_-]{43}$/);
    expect(makeToken().token).not.toBe(makeToken().token);
  });

  it('never has a public id that begins with a dash, which a command line would take for an option', () => {
    const drawn = [Buffer.alloc(32, 0xfb), Buffer.alloc(32, 0xfa), Buffer.alloc(32, 7)];
    const { id } = makeToken(() => drawn.shift()!);
    expect(Buffer.alloc(32, 0xfb).toString('base64url')[0]).toBe('-');
    expect([id, drawn.length]).toEqual(['BwcHBwcHBw', 0]);
  });

  it('gives the first ten body characters as the public id and the SHA-256 of the whole token to keep', () => {
    const { token, id, lastFour, hash } = makeToken(() => Buffer.alloc(32, 7));
    expect(id).toBe(token.slice(6, 16));
    expect(lastFour).toBe(token.slice(-4));
    expect(hash).toEqual(createHash('sha256').update(token).digest());
  });

  it('shows only the prefix and the last four afterwards', () => {
    expect(keyLabel({ lastFour: 'wxyz' })).toBe('sk-lr-…wxyz');
    expect(keyLabel({ lastFour: 'wxyz', brought: true })).toBe('…wxyz');
  });
});

function refusal(header: string | undefined): GatewayError {
  try {
    checkTokenShape(header);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error(`not refused: ${header}`);
}

const { token, id } = makeToken();

describe('the shape of the Authorization header', () => {
  it('passes "Bearer", one space and a token, and reads the key id', () => {
    expect(checkTokenShape(`Bearer ${token}`)).toEqual({ token, keyId: id });
  });

  it('says authentication_error when the header is missing', () => {
    expect(refusal(undefined).row).toMatchObject({ status: 401, code: 'authentication_error' });
  });

  it.each([
    ['a lower-case scheme', `bearer ${token}`],
    ['an upper-case scheme', `BEARER ${token}`],
    ['two spaces', `Bearer  ${token}`],
    ['a tab', `Bearer\t${token}`],
    ['double quotes', `Bearer "${token}"`],
    ['single quotes', `Bearer '${token}'`],
    ['a quoted header', `"Bearer ${token}"`],
    ['a comma list', `Bearer ${token}, Bearer ${token}`],
    ['a trailing comma', `Bearer ${token},`],
    ['the bare token', token],
    ['another scheme', `Basic ${token}`],
    ['an empty header', ''],
    ['no token', 'Bearer'],
    ['an empty token', 'Bearer '],
    ['another prefix', `Bearer sk-or-${token.slice(6)}`],
    ['an upper-case prefix', `Bearer SK-LR-${token.slice(6)}`],
    ['one character too few', `Bearer ${token.slice(0, -1)}`],
    ['one character too many', `Bearer ${token}x`],
    ['only the prefix', 'Bearer sk-lr-'],
  ])('refuses %s as malformed and never repeats the token', (_what, header) => {
    const error = refusal(header);
    expect(error.row.code).toBe('api_key_malformed');
    expect(error.message).not.toContain(token.slice(6, 40));
  });

  it('states the body length found and expected', () => {
    expect(refusal(`Bearer ${token.slice(0, -3)}`).message).toContain('has 40 characters, but 43 are expected');
    expect(refusal(`Bearer ${token}${'x'.repeat(8000)}`).message).toContain('has 8043 characters');
  });

  it('says that the sk-bf- scheme is retired, whatever its length', () => {
    expect(refusal(`Bearer sk-bf-${token.slice(6)}`).message).toContain('retired');
    expect(refusal('Bearer sk-bf-abc')).toMatchObject({ condition: 'api_key_malformed' });
  });

  it('calls 43 characters outside base64url not registered: the shape is right, and no key can be that', () => {
    expect(refusal(`Bearer sk-lr-${'!'.repeat(43)}`).row.code).toBe('api_key_not_registered');
    expect(refusal(`Bearer sk-lr-${'é'.repeat(43)}`).row.code).toBe('api_key_not_registered');
  });
});

const made = makeToken();
const account = {} as Account;
const identity = (change: Partial<ApiKey> = {}): Identity => ({
  account,
  project: {} as Project,
  key: {
    id: made.id,
    accountId: 'a',
    name: 'k',
    lastFour: made.lastFour,
    hash: made.hash,
    expiresAt: 1000,
    terms: openTerms,
    createdAt: 0,
    projectId: null,
    holderId: null,
    ...change,
  },
});

describe('holding a token against its key', () => {
  it('passes the right token up to the last millisecond', () => {
    expect(() => verifyToken(identity(), made.token, 999)).not.toThrow();
    expect(() => verifyToken(identity({ expiresAt: null }), made.token, 1e15)).not.toThrow();
  });

  it('says api_key_expired from the moment of expiry, with the time', () => {
    expect(() => verifyToken(identity(), made.token, 1000)).toThrow('1970-01-01T00:00:01.000Z');
    expect(() => verifyToken(identity(), made.token, 1000)).toThrow(
      expect.objectContaining({ condition: 'api_key_expired' }),
    );
  });

  it('answers the same by the id alone once the hash is erased, also when the clock was set back', () => {
    expect(() => verifyToken(identity({ hash: null }), made.token, 10)).toThrow(
      expect.objectContaining({ condition: 'api_key_expired' }),
    );
  });

  it('says api_key_not_registered for another secret under the same id', () => {
    const other = made.token.slice(0, -1) + (made.token.endsWith('A') ? 'B' : 'A');
    expect(() => verifyToken(identity(), other, 10)).toThrow(
      expect.objectContaining({ condition: 'api_key_not_registered' }),
    );
  });
});
