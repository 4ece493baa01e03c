/** The operator's credential, compared in constant time whatever its length. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { hashToken } from '../../accounts/keys/token.js';
import { gatewayError } from '../../errors/gateway-error.js';

export function requireAdminToken(app: FastifyInstance, adminToken: string): void {
  const isAdmin = adminTokenCheck(adminToken);
  app.addHook('onRequest', async (request) => {
    if (!isAdmin(request.headers.authorization)) throw gatewayError('admin_token_wrong');
  });
}

/** Whether an `Authorization` header carries the token. */
export function adminTokenCheck(adminToken: string): (authorization: string | undefined) => boolean {
  if (adminToken === '') throw new Error('the admin token is empty');
  // Hashes have one length, so the comparison tells nothing about the token's own.
  const expected = hashToken(`Bearer ${adminToken}`);
  return (authorization = '') => timingSafeEqual(expected, hashToken(authorization));
}
