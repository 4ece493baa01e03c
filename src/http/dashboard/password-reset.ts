/** Resets a forgotten password: asks for a link by mail, and sets a new password with a link. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { gatewayError } from '../../errors/gateway-error.js';
import { bodyFields, emailAddress, newPassword } from '../admin/fields.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { callerPeer, limitGuesses, resetBuckets, secretBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';

const linkRequest = z.strictObject({ email: emailAddress });
const reset = z.strictObject({
  token: z.string('must be text').max(1000, 'must be at most 1000 characters'),
  password: newPassword,
});

export function registerPasswordReset(app: FastifyInstance, { resets, limiter, passwords }: DashboardDeps): void {
  app.post('/forgot-password', async (request, reply) => {
    checkPasswordsAllowed({ passwords });
    if (!resets.sendsMail) throw gatewayError('password_reset_not_offered');
    const { email } = bodyFields(request, linkRequest);
    await limiter.take(resetBuckets(callerPeer(request), email));
    resets.request(email, request.origin.address);
    return reply.code(202).send({});
  });

  app.post('/reset-password', async (request, reply) => {
    checkPasswordsAllowed({ passwords });
    const { token, password } = bodyFields(request, reset);
    const attempt = () => resets.use(token, password, request.origin.address);
    const account = await limitGuesses(limiter, secretBuckets(callerPeer(request)), attempt);
    if (!account) throw gatewayError('reset_link_invalid');
    return reply.code(204).send();
  });
}
