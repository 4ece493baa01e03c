/**
 * Single sign-on: the way to an identity provider and back, links to more of them, and logouts that a provider announces. A refused
 * sign-in leads to the sign-in page, which says why.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SignInFault, type SignInFaultName } from '../../accounts/sign-in/oidc/faults.js';
import type { Finished } from '../../accounts/sign-in/oidc/single-sign-on.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { actorOf, personIn } from '../admin/audit.js';
import { bodyFields } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { withMemberFaults } from '../people/member-fields.js';
import { rawBody } from '../server/body.js';
import { callerPeer, providerBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { sessionOf } from './require-session.js';
import { newSession } from './sign-in.js';

type WithProvider = { Params: { id: string } };

const linkWish = z.strictObject({ provider: z.string('must be the id of an identity provider') });

export function registerOidc(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { singleSignOn } = dashboard;
  const refused = refusals(deps, dashboard);

  app.get<WithProvider>('/oidc/:id/start', async (request, reply) => {
    const { id } = request.params;
    checkKnown(dashboard, id);
    return refused(request, reply, id, async () => {
      const { url, cookie } = await singleSignOn.begin(id);
      return reply.header('set-cookie', cookie).redirect(url, 302);
    });
  });

  app.get<WithProvider>('/oidc/:id/callback', async (request, reply) => {
    const { id } = request.params;
    checkKnown(dashboard, id);
    reply.header('set-cookie', singleSignOn.endedCookie);
    return refused(request, reply, id, async () => {
      const query = request.originalUrl.split('?').slice(1).join('?');
      const finished = await singleSignOn.finish(id, {
        ...{ cookie: request.headers.cookie, query, address: request.origin.address },
      });
      await recordOpened(deps, dashboard, request, id, finished);
      reply.header('set-cookie', [singleSignOn.endedCookie, ...finished.cookies]);
      const { dashboard: home } = dashboard.addresses();
      return reply.redirect(finished.isLinked ? `${home}/account` : home, 302);
    });
  });
}

/** For signed-in people. */
export function registerIdentities(app: FastifyInstance, { store, audit }: HttpDeps, dashboard: DashboardDeps): void {
  const { singleSignOn, limiter } = dashboard;

  app.get('/identities', async (request) => {
    const linked = await store.identities.ofPerson(sessionOf(request).person.id);
    const data = singleSignOn.list().map(({ id, name }) => {
      const identity = linked.find(({ provider }) => provider === id);
      const last = identity && new Date(identity.lastUsedAt).toISOString();
      return {
        provider: id,
        name,
        linked: identity !== undefined,
        email: identity?.email ?? null,
        last_used_at: last ?? null,
      };
    });
    return { object: 'list', data };
  });

  app.post('/identities', async (request, reply) => {
    const { provider } = withMemberFaults(request, () => bodyFields(request, linkWish));
    if (!singleSignOn.has(provider)) {
      const reason = `names "${provider.slice(0, 100)}", which is no identity provider here`;
      throw gatewayError('member_field_invalid', { param: 'provider', reason });
    }
    await limiter.take(providerBuckets(callerPeer(request)));
    const { id } = sessionOf(request).person;
    try {
      const { url, cookie } = await singleSignOn.begin(provider, id);
      reply.header('set-cookie', cookie);
      return { url };
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      const { fault, reason } = error;
      await audit.record(actorOf(request), 'sign_in.refused', `oidc:${provider}`, { provider, fault, reason });
      throw gatewayError('identity_provider_fault', { provider, fault, reason });
    }
  });
}

/** The provider calls it, and no browser. */
export function registerBackChannel(app: FastifyInstance, { audit }: HttpDeps, dashboard: DashboardDeps): void {
  const { singleSignOn, limiter } = dashboard;

  app.post<WithProvider>('/oidc/:id/backchannel-logout', async (request, reply) => {
    const { id } = request.params;
    checkKnown(dashboard, id);
    reply.header('cache-control', 'no-store');
    const buckets = providerBuckets(callerPeer(request));
    await limiter.take(buckets);
    const token = new URLSearchParams(rawBody(request).toString('utf8')).get('logout_token') ?? '';
    try {
      await singleSignOn.logout(id, token, request.origin.address);
    } catch (error) {
      if (!(error instanceof SignInFault)) throw error;
      const { fault, reason } = error;
      const who = { actor: 'anonymous', by: null, address: request.origin.address } as const;
      await audit.record(who, 'logout.refused', `oidc:${id}`, { provider: id, fault, reason });
      throw gatewayError('logout_token_refused', { fault, reason });
    }
    await limiter.giveBack(buckets);
    return reply.code(200).send();
  });
}

function checkKnown({ singleSignOn }: DashboardDeps, id: string): void {
  if (!singleSignOn.has(id))
    throw gatewayError('resource_not_found', { what: 'identity provider', id: id.slice(0, 100) });
}

/** Runs a step of a sign-in. A fault becomes a line of the audit log and a message of the sign-in page. */
function refusals({ audit }: HttpDeps, { limiter, addresses }: DashboardDeps) {
  const tell = (reply: FastifyReply, provider: string, fault: SignInFaultName) =>
    reply.redirect(`${addresses().dashboard}/sign-in?${new URLSearchParams({ fault, provider })}`, 302);
  return async (request: FastifyRequest, reply: FastifyReply, provider: string, step: () => Promise<FastifyReply>) => {
    const buckets = providerBuckets(callerPeer(request));
    try {
      await limiter.take(buckets);
      const answer = await step();
      await limiter.giveBack(buckets);
      return answer;
    } catch (error) {
      if (error instanceof GatewayError && error.condition === 'too_many_attempts')
        return tell(reply, provider, 'too_many_attempts');
      if (!(error instanceof SignInFault)) throw error;
      const { fault, reason, about } = error;
      const who = { actor: 'anonymous', by: null, address: request.origin.address } as const;
      await audit.record(who, 'sign_in.refused', `oidc:${provider}`, { provider, fault, reason, ...about });
      return tell(reply, provider, fault);
    }
  };
}

async function recordOpened(
  { audit }: HttpDeps,
  dashboard: DashboardDeps,
  request: FastifyRequest,
  provider: string,
  { personId, claims, cookies }: Finished,
): Promise<void> {
  const session = await newSession(dashboard, cookies);
  const who = personIn(request, personId, session.current?.account.id);
  await audit.record(who, 'session.open', personId, {
    provider,
    subject: claims.subject,
    second_factor: claims.isStrong,
  });
}
