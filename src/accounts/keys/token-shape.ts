/** Reads the token from the `Authorization` header by its shape alone, without a lookup. No message repeats the header. */
import { gatewayError } from '../../errors/gateway-error.js';
import { keyIdOf, retiredTokenPrefix, tokenBodyLength, tokenLength, tokenPrefix } from './token.js';

export interface PresentedToken {
  readonly token: string;
  readonly keyId: string;
}

const scheme = 'Bearer ';
const goodStart = scheme + tokenPrefix;
const goodLength = scheme.length + tokenLength;
const base64urlBody = /^[A-Za-z0-9_-]{43}$/;

/**
 * A body of 43 characters outside the base64url alphabet has the right shape, but no key can have it. It is therefore
 * `api_key_not_registered`, and costs no lookup.
 */
export function checkTokenShape(authorization: string | undefined): PresentedToken {
  if (authorization === undefined) throw gatewayError('authorization_missing');
  if (authorization.length !== goodLength || !authorization.startsWith(goodStart)) {
    throw gatewayError('api_key_malformed', { reason: shapeFault(authorization) });
  }
  const token = authorization.slice(scheme.length);
  if (!base64urlBody.test(token.slice(tokenPrefix.length))) throw gatewayError('api_key_not_registered');
  return { token, keyId: keyIdOf(token) };
}

function shapeFault(authorization: string): string {
  if (!authorization.startsWith(scheme)) {
    return 'the Authorization header must be exactly "Bearer", one space and the token';
  }
  const token = authorization.slice(scheme.length);
  if (token.startsWith(retiredTokenPrefix)) {
    return `the ${retiredTokenPrefix} key scheme is retired; keys now begin with ${tokenPrefix}`;
  }
  if (token === '') return 'there is no token after "Bearer "';
  if (!token.startsWith(tokenPrefix)) return `the token does not begin with ${tokenPrefix} right after "Bearer "`;
  const found = token.length - tokenPrefix.length;
  return `the body after ${tokenPrefix} has ${found} characters, but ${tokenBodyLength} are expected`;
}
