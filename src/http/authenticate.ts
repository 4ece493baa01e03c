/** Admits requests to `/v1/*` outside the chat path, by the same checks in the same order; only credits are not needed here. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressRefusal, settingsRefusal } from '../accounts/keys/key-scope.js';
import type { Account, Identity } from '../domain/account.js';
import { gatewayError } from '../errors/gateway-error.js';
import { checkAccount, identify } from '../pipeline/admit.js';
import type { HttpDeps } from './deps.js';
import { announcedLength } from './server/body.js';
import { headerObject } from './server/headers.js';

export function requireKey(app: FastifyInstance, deps: HttpDeps): void {
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    const identity = await identify(deps, request.headers.authorization);
    request.identity = identity;
    // A request from an address that the key does not allow must not use up the limits of its owner.
    const refusal = addressRefusal(identity.key, request.origin.address);
    const overLimit = refusal ?? (await deps.keyLimiter.countRequest(identity));
    reply.headers(headerObject(deps.keyLimiter.headersOf(identity)));
    if (refusal) throw refusal;
    deps.directory.noteUse(identity.key.id, deps.clock.now());
    checkAccount(deps, identity, announcedLength(request.raw), overLimit);
  });
}

/** Options of a route that changes the settings of an account: a restricted key is refused before its body is read. */
export const changesSettings = {
  onRequest: async (request: FastifyRequest): Promise<void> => {
    const refusal = settingsRefusal(callerOf(request).key);
    if (refusal) throw refusal;
  },
};

/** The identity of a request behind the key check or the session check. */
export function callerOf(request: FastifyRequest): Identity {
  if (!request.identity) throw new Error('a route under /v1 was registered outside the key check');
  return request.identity;
}

/** The account of a management key. Throws management_key_required. */
export function managedAccount(request: FastifyRequest): Account {
  const { key, account } = callerOf(request);
  if (key.terms.kind !== 'management') throw gatewayError('management_key_required');
  return account;
}

export function accountOf(request: FastifyRequest): Account {
  return callerOf(request).account;
}
