/** The operator's credential, compared in constant time whatever its length. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { hashToken } from '../../accounts/keys/token.js';
import { gatewayError } from '../../errors/gateway-error.js';

export function requireAdminToken(app: FastifyInstance, adminToken: string): void {
  if (adminToken === '') throw new Error('the admin token is empty');
  // Hashes have one length, so the comparison tells nothing about the token's own.
  const expected = hashToken(`Bearer ${adminToken}`);
  app.addHook('onRequest', async (request) => {
    const sent = hashToken(request.headers.authorization ?? '');
    if (!timingSafeEqual(expected, sent)) throw gatewayError('admin_token_wrong');
  });
}
