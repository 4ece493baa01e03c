/** `GET /v1/key` and `GET /v1/credits`: the key in use and the balance of its account. */
import type { FastifyInstance } from 'fastify';
import { keyLabel } from '../../accounts/keys/token.js';
import { usdNumber, usdText } from '../../base/money.js';
import { accountOf, callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { json, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { budgetReport } from './budget.js';
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

const credits = record('Credits', {
  data: s.object({
    balance_usd: s.usd('The balance.'),
    held_usd: s.usd('What requests in flight may cost by their estimates.'),
    requests_in_flight: s.integer('Requests of the account that are not over.'),
    total_credits: s.number('All credit so far.'),
    total_usage: s.number('All usage so far.'),
    currency: { const: 'USD' },
  }),
});
const keyInfo = record('KeyInfo', {
  data: s.object({
    name: s.text('The key’s name.'),
    label: s.text('Its beginning and its last four characters.'),
    expires_at: s.timeOrNull('When it expires; null is never.'),
    usage: s.number('What was spent with it, in US dollars.'),
    rate_limit: s.object({
      requests_per_minute: s.integer('Requests a minute.'),
      tokens_per_minute: s.integer('Tokens a minute.'),
    }),
  }),
});

export const account = resource('Account', 'The balance of the account, and the limits of the key.', 'key', {
  'GET /v1/credits': operation('getCredits', 'Get the balance', {
    answers: json('The balance and its sums.', credits),
  }),
  'GET /v1/budget': operation('getBudget', 'Get what may still be spent', {
    answers: json('The limits of the key, its project and its account.', budgetReport),
  }),
  'GET /v1/key': operation('getKey', 'Get the key in use', { answers: json('The key.', keyInfo) }),
});
