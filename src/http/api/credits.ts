/** `GET /v1/credits`: the account's balance, exact as text, and its sums as numbers (contract 4.8). */
import type { FastifyInstance } from 'fastify';
import { usdNumber, usdText } from '../../base/money.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';

export function registerCredits(app: FastifyInstance, { directory }: HttpDeps): void {
  app.get('/v1/credits', async (request) => {
    const caller = accountOf(request);
    // Asked for once more: in a fleet other processes have spent of it since the key was checked against memory.
    const { balancePico, usagePico } = (await directory.account(caller.id)) ?? caller;
    return {
      data: {
        balance_usd: usdText(balancePico),
        // The balance is the sum of the ledger, so what was credited is the balance plus what was used (ruling 9).
        total_credits: usdNumber(balancePico + usagePico),
        total_usage: usdNumber(usagePico),
        currency: 'USD',
      },
    };
  });
}
