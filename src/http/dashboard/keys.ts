/** The API keys of the signed-in account. Only the answer to the creation contains the token. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseExpiry } from '../../accounts/keys/expiry.js';
import { keyLabel } from '../../accounts/keys/token.js';
import { usdText } from '../../base/money.js';
import type { ApiKey } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { bodyFields, personText } from '../admin/fields.js';
import { keyJson } from '../admin/keys.js';
import { settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { newKeyBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';

const newKey = z.strictObject({ name: personText(100), expires: z.string('must be text').nullish() });

export function registerOwnKeys(app: FastifyInstance, deps: HttpDeps, { limiter }: DashboardDeps): void {
  const { directory, clock, expiry, store, journal } = deps;
  const ownKeyJson = (key: ApiKey, usagePico: bigint) => ({
    ...keyJson(key, clock.now()),
    label: keyLabel(key.lastFour),
    usage_usd: usdText(usagePico),
  });

  app.get('/keys', async (request) => {
    const { id } = accountOf(request);
    await journal.settled(settledWaitMs);
    const [keys, usages] = await Promise.all([directory.keys(id), store.keys.usages(id)]);
    return { object: 'list', data: keys.reverse().map((key) => ownKeyJson(key, usages.get(key.id) ?? 0n)) };
  });

  app.post('/keys', async (request, reply) => {
    const { name, expires } = bodyFields(request, newKey);
    const { id } = accountOf(request);
    const now = clock.now();
    const expiresAt = parseExpiry(expires, now);
    const buckets = newKeyBuckets(id);
    await limiter.take(buckets);
    const { key, token } = await directory
      .createKey(`account:${id}`, { accountId: id, name, expiresAt, createdAt: now })
      .catch(async (error: unknown) => {
        await limiter.giveBack(buckets);
        throw error;
      });
    expiry.noteNewKey(expiresAt);
    return reply.code(201).send({ ...ownKeyJson(key, 0n), token });
  });

  app.delete<{ Params: { id: string } }>('/keys/:id', async (request, reply) => {
    const { id: accountId } = accountOf(request);
    const { id } = request.params;
    if (!(await directory.deleteKey(`account:${accountId}`, accountId, id))) {
      throw gatewayError('resource_not_found', { what: 'key', id: id.slice(0, 100) });
    }
    return reply.code(204).send();
  });
}
