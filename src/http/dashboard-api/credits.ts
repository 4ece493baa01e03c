/** The account's balance and ledger, and how credit is added (contract 8, Credits). */
import type { FastifyInstance } from 'fastify';
import { usdText } from '../../base/money.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { LedgerEntry } from '../../storage/store.js';
import { ledgerEntryJson } from '../admin/credits.js';
import { settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryNumber, queryText } from '../query.js';
import type { DashboardDeps } from './deps.js';

const kinds: readonly LedgerEntry['kind'][] = ['credit', 'usage', 'adjustment'];

const byOperator =
  'Credit is added by the operator of this service: on the Accounts page of this dashboard, or with ' +
  '"lodestone credits add". Tell them your e-mail address.';

export function registerOwnCredits(app: FastifyInstance, deps: HttpDeps, { payments }: DashboardDeps): void {
  app.get('/credits', async (request) => {
    const { balancePico, usagePico } = accountOf(request);
    return {
      balance_usd: usdText(balancePico),
      total_credits_usd: usdText(balancePico + usagePico),
      total_usage_usd: usdText(usagePico),
      currency: 'USD',
      top_up: { processor: payments, available: false, message: byOperator },
    };
  });

  app.get('/ledger', async (request) => {
    const limit = queryNumber(request, 'limit', { default: 50, min: 1, max: 500 });
    const before = queryText(request, 'after');
    const kind = kindOf(queryText(request, 'kind'));
    await deps.journal.settled(settledWaitMs);
    const filter = { ...(before !== undefined && { before }), ...(kind !== undefined && { kind }) };
    const entries = await deps.store.ledger.list(accountOf(request).id, limit + 1, filter);
    return { object: 'list', data: entries.slice(0, limit).map(ledgerEntryJson), has_more: entries.length > limit };
  });
}

function kindOf(text: string | undefined): LedgerEntry['kind'] | undefined {
  if (text === undefined) return undefined;
  const kind = kinds.find((candidate) => candidate === text);
  if (!kind) throw gatewayError('field_invalid', { param: 'kind', reason: `must be one of ${kinds.join(', ')}` });
  return kind;
}
