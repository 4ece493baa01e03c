/** `GET /v1/key`: what a key may know about itself. */
import type { FastifyInstance } from 'fastify';
import { keyLabel } from '../../accounts/keys/token.js';
import { usdNumber, usdText } from '../../base/money.js';
import { accountOf, callerOf } from '../authenticate.js';
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

// `GET /v1/credits`: the account's balance, exact as text, and its sums as numbers.

export function registerCredits(app: FastifyInstance, { directory }: HttpDeps): void {
  app.get('/v1/credits', async (request) => {
    const caller = accountOf(request);
    // Asked for once more: in a fleet other processes have spent of it since the key was checked against memory.
    const { balancePico, usagePico } = (await directory.account(caller.id)) ?? caller;
    return {
      data: {
        balance_usd: usdText(balancePico),
        // The balance is the sum of the ledger, so what was credited is the balance plus what was used.
        total_credits: usdNumber(balancePico + usagePico),
        total_usage: usdNumber(usagePico),
        currency: 'USD',
      },
    };
  });
}
