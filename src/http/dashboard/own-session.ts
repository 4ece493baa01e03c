/** What a session may do about itself: change the account's password, and show the admin token for operator rights. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { checkNewPassword } from '../../accounts/sign-in/password-rules.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { AdminGate } from '../admin/admin-gate.js';
import { bodyFields, newPassword } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { callerPeer, countingGuesses, secretBuckets, signInBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { sessionOf } from './require-session.js';
import { sessionJson } from './session.js';

const text = z.string('must be text').max(1000, 'must be at most 1000 characters');
const passwordChange = z.strictObject({ current_password: text.nullish(), new_password: newPassword });
const adminProof = z.strictObject({ admin_token: text });

export function registerOwnSession(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { signIns, limiter } = dashboard;
  const gate = new AdminGate(deps);

  app.post('/change-password', async (request, reply) => {
    const { account } = sessionOf(request);
    const { current_password = null, new_password } = bodyFields(request, passwordChange);
    await checkNewPassword('new_password', new_password, account);
    const buckets = signInBuckets({ peer: callerPeer(request), account: account.id, device: null });
    const attempt = async () => (await signIns.changePassword(account.id, current_password, new_password)) || null;
    const changed = await countingGuesses(limiter, buckets, attempt);
    if (!changed) throw gatewayError('current_password_wrong');
    await deps.audit.record(`account:${account.id}`, 'account.password', account.id);
    reply.header('set-cookie', await signIns.open(account.id));
    const { operatorBy } = sessionOf(request);
    return sessionJson(deps, dashboard, {
      account,
      token: '',
      operatorBy: operatorBy === 'account' ? operatorBy : null,
    });
  });

  app.post('/operator', async (request) => {
    const session = sessionOf(request);
    const { admin_token } = bodyFields(request, adminProof);
    const attempt = async () => (await gate.verify(admin_token, request, request.origin.address)) || null;
    if (!(await countingGuesses(limiter, secretBuckets(callerPeer(request)), attempt))) {
      throw gatewayError('operator_token_wrong');
    }
    await signIns.setSessionOperator(session, true);
    await deps.audit.record(`account:${session.account.id}`, 'session.operator', session.account.id);
    return sessionJson(deps, dashboard, { ...session, operatorBy: session.operatorBy ?? 'session' });
  });

  app.delete('/operator', async (request) => {
    const session = sessionOf(request);
    await signIns.setSessionOperator(session, false);
    return sessionJson(deps, dashboard, {
      ...session,
      operatorBy: session.operatorBy === 'account' ? 'account' : null,
    });
  });
}
