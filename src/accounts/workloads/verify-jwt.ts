/** Reads a JWT and checks its signature and its times. What it says beside that is checked by whoever trusts it. */
import { createHash } from 'node:crypto';
import type { CryptoKey, JSONWebKeySet, JWTPayload } from 'jose';
import type { IssuerKeys } from './issuer-keys.js';

/** How far the clocks of the issuer and of this machine may be apart. */
export const leewayMs = 60_000;
/** Signatures by a public key only: with a shared secret, whoever can check a token can make one. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const lengthMax = 16_384;

/** The token is not to be believed. The message completes "The subject_token …". */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

interface ReadToken {
  readonly issuer: string;
  /** Of the issuer and `jti`, else of what is signed: names the token, however its signature is written. */
  readonly digest: Buffer;
}

/** Only what it claims; null where the text is no JWT of an issuer. */
export async function readJwt(token: string): Promise<ReadToken | null> {
  if (token.length > lengthMax || !/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token)) return null;
  const { decodeJwt, decodeProtectedHeader } = await import('jose');
  try {
    decodeProtectedHeader(token);
    const { iss, jti } = decodeJwt(token);
    if (typeof iss !== 'string' || iss === '') return null;
    const name = typeof jti === 'string' ? ['jti', iss, jti] : ['signed', token.slice(0, token.lastIndexOf('.'))];
    return { issuer: iss, digest: createHash('sha256').update(JSON.stringify(name)).digest() };
  } catch {
    return null;
  }
}

/** The claims of a token that its issuer has signed and that holds now. Throws TokenRefused, and IssuerAway. */
export async function verifyJwt(
  token: string,
  issuer: string,
  keys: IssuerKeys,
  nowMs: number,
): Promise<JWTPayload & { exp: number }> {
  const known = await keys.keysOf(issuer);
  const claims = await verify(token, issuer, known, nowMs).catch(async (error: unknown) => {
    if ((error as { code?: string }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw refusalOf(error);
    const newer = await keys.newerKeysOf(issuer, known);
    if (!newer) throw refusalOf(error);
    return verify(token, issuer, newer, nowMs).catch((again: unknown) => {
      throw refusalOf(again);
    });
  });
  const { exp, iat } = claims;
  if (exp === undefined) throw new TokenRefused('has no "exp"');
  if (iat !== undefined && iat * 1000 > nowMs + leewayMs) throw new TokenRefused('was issued in the future ("iat")');
  return { ...claims, exp };
}

async function verify(token: string, issuer: string, keys: JSONWebKeySet, nowMs: number): Promise<JWTPayload> {
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  const rules = {
    ...{ issuer, algorithms, requiredClaims: ['exp'] },
    ...{ clockTolerance: leewayMs / 1000, currentDate: new Date(nowMs) },
  };
  try {
    return (await jwtVerify(token, createLocalJWKSet(keys), rules)).payload;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') throw error;
    // A token that names no key may be signed with each of them.
    let refusal = error;
    for await (const key of error as AsyncIterable<CryptoKey>) {
      try {
        return (await jwtVerify(token, key, rules)).payload;
      } catch (again) {
        refusal = again;
      }
    }
    throw refusal;
  }
}

function refusalOf(error: unknown): TokenRefused {
  const { code, claim } = error as { code?: string; claim?: string };
  if (code === 'ERR_JWT_EXPIRED') return new TokenRefused('has expired');
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') {
    if (claim === 'nbf') return new TokenRefused('does not hold yet ("nbf")');
    return new TokenRefused(claim === 'exp' ? 'has no "exp" that is a time' : `has a "${claim}" that does not hold`);
  }
  if (code === 'ERR_JWKS_NO_MATCHING_KEY')
    return new TokenRefused('is signed with a key that its issuer does not have');
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED' || code === 'ERR_JOSE_NOT_SUPPORTED')
    return new TokenRefused('is signed in a way that is not accepted; use RS256, PS256, ES256 or EdDSA');
  return new TokenRefused('has no valid signature of its issuer');
}
