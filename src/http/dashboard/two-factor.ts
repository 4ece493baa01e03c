/** Turns two-factor sign-in of the person on and off. Both ask for the password, because a session may be stolen. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { gatewayError } from '../../errors/gateway-error.js';
import { bodyFields } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { callerPeer, codeBuckets, limitGuesses, signInBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { sessionOf } from './require-session.js';
import { sessionJson, withoutAdminToken } from './session.js';

const text = z.string('must be text').max(1000, 'must be at most 1000 characters');
const begin = z.strictObject({ password: text });
const confirmation = z.strictObject({ code: text });
const end = z.strictObject({ password: text, code: text });

export function registerTwoFactor(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { signIns, twoFactor, limiter } = dashboard;

  app.get('/two-factor', async (request) => {
    const { person, twoFactor: on } = sessionOf(request);
    return { on, recovery_codes_left: on ? await twoFactor.recoveryCodesLeft(person.id) : 0 };
  });

  app.post('/two-factor', async (request) => {
    checkPasswordsAllowed(dashboard);
    const { person } = sessionOf(request);
    const { password } = bodyFields(request, begin);
    if (!(await signIns.hasPassword(person.id))) {
      const reason = 'is not set yet: set a password for the account first';
      throw gatewayError('field_invalid', { param: 'password', reason });
    }
    await checkPassword(dashboard, person.id, callerPeer(request), password);
    const { secret, url } = await twoFactor.begin(person);
    return { secret, otpauth_url: url };
  });

  app.post('/two-factor/confirm', async (request, reply) => {
    checkPasswordsAllowed(dashboard);
    const session = sessionOf(request);
    const { person } = session;
    const { code } = bodyFields(request, confirmation);
    const buckets = codeBuckets({ peer: callerPeer(request), account: person.id });
    const codes = await limitGuesses(limiter, buckets, () => twoFactor.confirm(person, code, request.origin.address));
    if (!codes) throw gatewayError('two_factor_code_wrong');
    reply.header('set-cookie', await signIns.open(person.id, true));
    const confirmed = { ...withoutAdminToken(session), openedBy: 'password', twoFactor: true, isStrong: true } as const;
    return { recovery_codes: codes, session: await sessionJson(deps, dashboard, confirmed) };
  });

  app.post('/two-factor/off', async (request) => {
    checkPasswordsAllowed(dashboard);
    const session = sessionOf(request);
    const { person } = session;
    const { password, code } = bodyFields(request, end);
    await checkPassword(dashboard, person.id, callerPeer(request), password);
    await useCode(dashboard, request, person.id, code);
    await twoFactor.turnOff(person, request.origin.address);
    return sessionJson(deps, dashboard, { ...session, twoFactor: false, isStrong: false });
  });
}

/** Throws where the code is wrong, and counts it as a guess. */
export async function useCode(
  { limiter, twoFactor }: Pick<DashboardDeps, 'limiter' | 'twoFactor'>,
  request: FastifyRequest,
  personId: string,
  code: string,
): Promise<void> {
  const attempt = { peer: callerPeer(request), account: personId };
  const use = async () => (await twoFactor.use(personId, code, request.origin.address)) || null;
  if (!(await limitGuesses(limiter, codeBuckets(attempt), use))) throw gatewayError('two_factor_code_wrong');
}

async function checkPassword(
  { signIns, limiter }: DashboardDeps,
  personId: string,
  peer: string,
  password: string,
): Promise<void> {
  const buckets = signInBuckets({ peer, account: personId, device: null });
  const attempt = async () => (await signIns.verifyPassword(personId, password)) || null;
  if (!(await limitGuesses(limiter, buckets, attempt))) throw gatewayError('two_factor_password_wrong');
}
