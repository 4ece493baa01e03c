/** `GET /v1/key`: what a key may know about itself (contract 4.8). */
import type { FastifyInstance } from 'fastify';
import { keyLabel } from '../../accounts/keys/token.js';
import { usdNumber } from '../../base/money.js';
import { callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { settledWaitMs } from './generations.js';

export function registerKey(app: FastifyInstance, { store, journal, limits }: HttpDeps): void {
  app.get('/v1/key', async (request) => {
    const { key, account } = callerOf(request);
    await journal.settled(settledWaitMs);
    return {
      data: {
        name: key.name,
        label: keyLabel(key.lastFour),
        expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
        usage: usdNumber(await store.keys.usage(key.id)),
        rate_limit: {
          requests_per_minute: account.limits.requestsPerMinute ?? limits.keyRequestsPerMinute,
          tokens_per_minute: account.limits.tokensPerMinute ?? limits.keyTokensPerMinute,
        },
      },
    };
  });
}
