/** The session check of the dashboard, the counterpart to the key check: a cookie identifies a person, who acts in an account. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieName, cookieValue } from '../../accounts/sign-in/cookies.js';
import type { AccountStanding, Session } from '../../accounts/sign-in/session.js';
import { type Identity, identityOf, openTerms } from '../../domain/account.js';
import { defaultProjectId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { assignRights, checkRouteRight } from '../rights.js';
import { checkAnnouncedBody } from '../server/body.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { isReading } from './same-origin.js';

/** The key name in usage records of the playground. */
const playgroundKeyName = 'playground';

/** Names the account that the call is about, where the person is a member of several. */
const accountHeader = 'x-lodestone-account';

/** Everything registered on `app` needs a session whose role allows it, and has the identity of its account. */
export function requireSession(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  assignRights(app);
  app.addHook('onRequest', async (request, reply) => {
    const session = await readSession(request, reply, dashboard);
    if (!session) throw gatewayError('session_required');
    request.session = session;
    const { current } = session;
    if (current) {
      request.identity = sessionIdentity(session.person.id, current);
      deps.territories.checkBillingCountry(current.account);
      // A suspended account may still read its data.
      if (current.account.status === 'suspended' && !isReading(request)) throw gatewayError('account_suspended');
    }
    checkRouteRight(request);
    checkAnnouncedBody(request, deps.bodyMemory);
  });
}

export function requireOperator(app: FastifyInstance, dashboard: DashboardDeps): void {
  app.addHook('onRequest', async (request) => {
    const session = sessionOf(request);
    if (session.operatorBy === null) throw gatewayError('operator_required');
    checkSecondFactor(session, dashboard);
  });
}

/** Throws where operators need two-factor sign-in and the session was opened without a second factor. */
export function checkSecondFactor(
  { isStrong }: Session,
  { operatorsNeedTwoFactor }: Pick<DashboardDeps, 'operatorsNeedTwoFactor'>,
): void {
  if (operatorsNeedTwoFactor && !isStrong) throw gatewayError('two_factor_enrolment_required');
}

export function sessionOf(request: FastifyRequest): Session {
  if (!request.session) throw new Error('a route of the dashboard was registered outside the session check');
  return request.session;
}

/** The session of the request's cookie, extended where due; null where there is none. */
export async function readSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { signIns, secure }: Pick<DashboardDeps, 'signIns' | 'secure'>,
): Promise<Session | null> {
  const { cookie, 'user-agent': userAgent } = request.headers;
  if (cookie === undefined || !cookieValue(cookie, cookieName('session', secure))) return null;
  const wanted = request.headers[accountHeader]?.toString() || undefined;
  const { session, cookies } = await signIns.session(cookie, { wanted, userAgent });
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  return session;
}

/** The id names the account, or the project of a developer who is bound, so that key limits apply to it. No real key can have it. */
function sessionIdentity(holderId: string, { account, projects }: AccountStanding): Identity {
  // A developer who does not reach the default project works in their first one.
  const isBound = projects !== null && !projects.includes(defaultProjectId(account.id));
  const projectId = isBound ? (projects[0] ?? '') : null;
  const key = {
    // Each key has one project.
    ...{ id: `session:${isBound ? projectId : account.id}`, accountId: account.id, name: playgroundKeyName },
    ...{ lastFour: '', hash: null, expiresAt: null, createdAt: account.createdAt, terms: openTerms },
    ...{ projectId, holderId },
  };
  return identityOf(key, account);
}
