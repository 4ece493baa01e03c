import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../errors/gateway-error.js';
import { makeToken } from './token.js';
import { checkTokenShape } from './token-shape.js';

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
