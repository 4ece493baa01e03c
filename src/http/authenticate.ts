/** Checks 4 to 7 for `/v1/*` outside the chat path: key, account, content length, per-key limits, in this order. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkTokenShape } from '../accounts/keys/token-shape.js';
import { keyExpired, verifyToken } from '../accounts/keys/verify-token.js';
import type { Account, Identity } from '../domain/account.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { HttpDeps } from './deps.js';
import { checkBodyLength } from './server/body.js';
import { headerObject } from './server/headers.js';

export function requireKey(app: FastifyInstance, deps: HttpDeps): void {
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    request.identity = await identityOf(deps, request.headers.authorization);
    const { account } = request.identity;
    const overLimit = await deps.keyLimiter.countRequest(request.identity);
    reply.headers(headerObject(deps.keyLimiter.headersOf(request.identity)));
    deps.territories.checkBillingCountry(account);
    if (account.status === 'suspended') throw gatewayError('account_suspended');
    checkBodyLength(request, deps.bodyMemory);
    if (overLimit) throw overLimit;
  });
}

async function identityOf(deps: HttpDeps, authorization: string | undefined): Promise<Identity> {
  const { token, keyId } = checkTokenShape(authorization);
  const identity = deps.directory.cached(keyId) ?? (await deps.directory.load(keyId));
  if (!identity) throw gatewayError('api_key_not_registered');
  const now = deps.clock.now();
  if (identity.key.hash !== null && keyExpired(identity.key, now)) deps.expiry.noteExpiredKey();
  verifyToken(identity, token, now);
  return identity;
}

export function callerOf(request: FastifyRequest): Identity {
  if (!request.identity) throw new Error('a route under /v1 was registered outside the key check');
  return request.identity;
}

export function accountOf(request: FastifyRequest): Account {
  return callerOf(request).account;
}
