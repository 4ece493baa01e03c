/** Admits requests to `/v1/*` outside the chat path, by the same checks in the same order; only credits are not needed here. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressRefusal, settingsRefusal } from '../accounts/keys/token.js';
import type { Account, Identity } from '../domain/account.js';
import type { Project } from '../domain/organisation.js';
import { gatewayError } from '../errors/gateway-error.js';
import { checkAccount, identify } from '../pipeline/admit.js';
import type { HttpDeps } from './deps.js';
import { checkRouteRight } from './rights.js';
import { announcedLength } from './server/body.js';
import { headerObject } from './server/headers.js';

export function requireKey(app: FastifyInstance, deps: HttpDeps): void {
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    const identity = await identify(deps, request.headers.authorization, request.origin.address);
    request.identity = identity;
    // A request from an address that the key does not allow must not use up the limits of its owner.
    const refusal = addressRefusal(identity.key, request.origin.address);
    const overLimit = refusal ?? (await deps.keyLimiter.countRequest(identity));
    reply.headers(headerObject(deps.keyLimiter.headersOf(identity)));
    if (refusal) throw refusal;
    deps.directory.uses.note(identity.key.id, deps.clock.now());
    checkAccount(deps, identity, announcedLength(request.raw), overLimit);
    if (identity.key.terms.kind === 'management') checkRouteRight(request);
  });
}

/** Options of a route that changes the settings of an account: a key that may not is refused before its body is read. */
export const changesSettings = {
  onRequest: async (request: FastifyRequest): Promise<void> => {
    const { key, account } = callerOf(request);
    const refusal = settingsRefusal(key);
    if (refusal) throw refusal;
    if (account.settingsByKeys || request.session) return;
    if (key.terms.kind !== 'management') throw gatewayError('settings_by_keys_off');
  },
};

/** The identity of a request behind the key check or the session check. */
export function callerOf(request: FastifyRequest): Identity {
  if (!request.identity) throw new Error('a route under /v1 was registered outside the key check');
  return request.identity;
}

export interface Manager {
  readonly account: Account;
  /** The one project whose keys and settings the caller manages; null for the whole account. */
  readonly reach: Project | null;
}

/** What the caller manages: a session its account, a management key its account or its project. Throws management_key_required. */
export function managerOf(request: FastifyRequest): Manager {
  const { key, account, project } = callerOf(request);
  if (request.session) return { account, reach: null };
  if (key.terms.kind !== 'management') throw gatewayError('management_key_required');
  return { account, reach: key.projectId === null ? null : project };
}

export function accountOf(request: FastifyRequest): Account {
  return callerOf(request).account;
}
