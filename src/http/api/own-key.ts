/** `GET /v1/key` and `GET /v1/credits`: the key in use and the balance of its account. */
import type { FastifyInstance } from 'fastify';
import { keyLabel } from '../../accounts/keys/token.js';
import { usdNumber, usdText } from '../../base/money.js';
import { accountOf, callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { settledWaitMs } from './generations.js';

export function registerKey(app: FastifyInstance, { store, journal, keyLimiter }: HttpDeps): void {
  app.get('/v1/key', async (request) => {
    const identity = callerOf(request);
    const { key } = identity;
    const { requestsPerMinute, tokensPerMinute } = keyLimiter.limitsOf(identity);
    await journal.settled(settledWaitMs);
    return {
      data: {
        name: key.name,
        label: keyLabel(key),
        expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
        usage: usdNumber(await store.keys.usage(key.id)),
        rate_limit: {
          requests_per_minute: requestsPerMinute,
          tokens_per_minute: tokensPerMinute,
        },
      },
    };
  });
}

export function registerCredits(app: FastifyInstance, { directory, spend }: HttpDeps): void {
  app.get('/v1/credits', async (request) => {
    const caller = accountOf(request);
    // Read again, because other processes of a fleet may have charged the account since the key was checked.
    const { balancePico, usagePico } = (await directory.account(caller.id)) ?? caller;
    const { heldPico, requests } = (await spend?.inFlight(caller)) ?? { heldPico: 0n, requests: 0 };
    return {
      data: {
        balance_usd: usdText(balancePico),
        held_usd: usdText(heldPico),
        requests_in_flight: requests,
        // The balance is the sum of the ledger, so the credit is the balance plus the usage.
        total_credits: usdNumber(balancePico + usagePico),
        total_usage: usdNumber(usagePico),
        currency: 'USD',
      },
    };
  });
}
