/** The dashboard's counterpart to the key check: a session speaks for an account, by its cookie. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieName, cookieValue } from '../../accounts/sign-in/cookies.js';
import type { Session } from '../../accounts/sign-in/sign-ins.js';
import type { Account, Identity } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { checkBodyLength } from '../server/body.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { isReading } from './same-origin.js';

/** The key name that usage records of the playground have (contract 2.1: the name appears in the usage history). */
export const playgroundKeyName = 'playground';

/** Everything registered on `app` needs a session, and has the account's identity as if a key had been shown. */
export function requireSession(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  app.addHook('onRequest', async (request, reply) => {
    const session = await readSession(request, reply, dashboard);
    if (!session) throw gatewayError('session_required');
    request.session = session;
    request.identity = identityOf(session.account);
    deps.territories.checkBillingCountry(session.account);
    // A suspended account may still see what it has and what it owes.
    if (session.account.status === 'suspended' && !isReading(request)) throw gatewayError('account_suspended');
    checkBodyLength(request, deps.bodyMemory);
  });
}

export function requireOperator(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (sessionOf(request).operatorBy === null) throw gatewayError('operator_required');
  });
}

export function sessionOf(request: FastifyRequest): Session {
  if (!request.session) throw new Error('a route of the dashboard was registered outside the session check');
  return request.session;
}

/** The session of the request's cookie, prolonged where that is due; null where there is none. */
export async function readSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { signIns, secure }: Pick<DashboardDeps, 'signIns' | 'secure'>,
): Promise<Session | null> {
  const { cookie } = request.headers;
  if (cookie === undefined || !cookieValue(cookie, cookieName('session', secure))) return null;
  const { session, cookies } = await signIns.session(cookie);
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  return session;
}

/** No key: its id names the account, so that limits by key are the account's own, and is no id that a key can have. */
function identityOf(account: Account): Identity {
  const key = {
    ...{ id: `session:${account.id}`, accountId: account.id, name: playgroundKeyName },
    ...{ lastFour: '', hash: null, expiresAt: null, createdAt: account.createdAt },
  };
  return { key, account };
}
