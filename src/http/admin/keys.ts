/** Creates, lists and deletes the keys of an account. Only the answer to the creation contains the token. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { expirySchema, parseExpiry } from '../../accounts/keys/expiry.js';
import { tokenPrefix } from '../../accounts/keys/token.js';
import { keyExpired } from '../../accounts/keys/verify-token.js';
import type { ApiKey } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { accountNamed } from './accounts.js';
import { actorOf } from './audit.js';
import { bodyFields, personText } from './fields.js';

export const newKey = z.strictObject({
  name: personText(100),
  expires: z
    .string('must be text')
    .meta(expirySchema)
    .nullish()
    .describe('`7d`, `90d`, `12mo` (calendar months), `never` or an RFC 3339 time; 90 days where it is left out.'),
});

export function registerKeys(app: FastifyInstance, deps: HttpDeps): void {
  const { directory, clock, expiry } = deps;

  app.post<{ Params: { id: string } }>('/accounts/:id/keys', async (request, reply) => {
    const { name, expires } = bodyFields(request, newKey);
    const now = clock.now();
    const expiresAt = parseExpiry(expires, now);
    const { id } = await accountNamed(deps, request.params.id);
    const { key, token } = await directory.createKey(actorOf(request), {
      accountId: id,
      name,
      expiresAt,
      createdAt: now,
    });
    expiry.noteNewKey(expiresAt);
    return reply.code(201).send({ ...keyJson(key, now), token });
  });

  app.get<{ Params: { id: string } }>('/accounts/:id/keys', async (request) => {
    const { id } = await accountNamed(deps, request.params.id);
    const now = clock.now();
    return { object: 'list', data: (await directory.keys(id)).map((key) => keyJson(key, now)) };
  });

  app.delete<{ Params: { id: string; keyId: string } }>('/accounts/:id/keys/:keyId', async (request, reply) => {
    const { id } = await accountNamed(deps, request.params.id);
    const { keyId } = request.params;
    if (!(await directory.deleteKey(actorOf(request), id, keyId))) {
      throw gatewayError('resource_not_found', { what: 'key', id: keyId.slice(0, 100) });
    }
    return reply.code(204).send();
  });
}

export function keyJson(key: ApiKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    prefix: tokenPrefix,
    last_four: key.lastFour,
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
    state: keyExpired(key, nowMs) ? 'expired' : 'active',
    created_at: new Date(key.createdAt).toISOString(),
  };
}
