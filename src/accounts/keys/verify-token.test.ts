import { describe, expect, it } from 'vitest';
import { type Account, type ApiKey, type Identity, openTerms } from '../../domain/account.js';
import { makeToken } from './token.js';
import { verifyToken } from './verify-token.js';

const made = makeToken();
const account = {} as Account;
const identity = (change: Partial<ApiKey> = {}): Identity => ({
  account,
  key: {
    id: made.id,
    accountId: 'a',
    name: 'k',
    lastFour: made.lastFour,
    hash: made.hash,
    expiresAt: 1000,
    terms: openTerms,
    createdAt: 0,
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
