/** `DELETE /dashboard/api/account`: the owner closes the account, with its email and, where they have one, their password. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { closeAccount } from '../../accounts/close-account.js';
import { checkRight } from '../../accounts/roles.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { actorOf } from '../admin/audit.js';
import { bodyFields } from '../admin/fields.js';
import { settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { standingOf } from '../rights.js';
import { callerPeer, limitGuesses, signInBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { sessionOf } from './require-session.js';

const text = z.string('must be text').max(1000, 'must be at most 1000 characters');
const closing = z.strictObject({ email: text, password: text.nullish() });

export function registerCloseAccount(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { signIns, limiter } = dashboard;

  app.delete('/account', async (request, reply) => {
    checkRight(standingOf(request), 'account.close');
    const account = accountOf(request);
    const { person } = sessionOf(request);
    const { email, password = null } = bodyFields(request, closing);
    if (email.trim().toLowerCase() !== account.email.toLowerCase()) {
      const reason = 'is not the email of this account; enter it to confirm that you mean this one';
      throw gatewayError('field_invalid', { param: 'email', reason });
    }
    if (dashboard.passwords && (await signIns.hasPassword(person.id))) {
      const buckets = signInBuckets({ peer: callerPeer(request), account: person.id, device: null });
      const attempt = async () => (await signIns.verifyPassword(person.id, password ?? '')) || null;
      if (!(await limitGuesses(limiter, buckets, attempt))) throw gatewayError('close_password_wrong');
    }
    // The balance that the audit log names is the final one.
    await deps.journal.settled(settledWaitMs);
    await closeAccount(deps, actorOf(request), account);
    return reply.code(204).send();
  });
}
