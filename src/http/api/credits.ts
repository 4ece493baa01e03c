/** `GET /v1/credits`: the account's balance, exact as text, and its sums as numbers (contract 4.8). */
import type { FastifyInstance } from 'fastify';
import { usdNumber, usdText } from '../../base/money.js';
import { accountOf } from '../authenticate.js';

export function registerCredits(app: FastifyInstance): void {
  app.get('/v1/credits', async (request) => {
    const { balancePico, usagePico } = accountOf(request);
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
