/** The account's balance and ledger, and how credit is added (contract 8, Credits). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseUsd, picoPerUsd, usdText } from '../../base/money.js';
import type { LedgerEntry } from '../../domain/ledger-entry.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { ledgerEntryJson } from '../admin/credits.js';
import { bodyFields } from '../admin/fields.js';
import { settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { type NumberParameter, queryNumber, queryText } from '../query.js';
import { amountBounds } from './checkout.js';
import type { DashboardDeps } from './dashboard-deps.js';

const kinds: readonly LedgerEntry['kind'][] = ['credit', 'usage', 'adjustment'];

const byOperator =
  'Credit is added by the operator of this service: on the Accounts page of this dashboard, or with ' +
  '"lodestone credits add". Tell them your e-mail address.';

const byCheckout =
  'You pay on a page of Stripe\u2019s. Credit is added when Stripe has confirmed the payment, mostly within seconds.';

/** High enough for anybody who wants to hear early, low enough to be an amount. */
const thresholdPicoMax = 1_000_000n * picoPerUsd;

const newThreshold = z.strictObject({
  low_balance_usd: z.string('must be a decimal amount as text, like "5.00"'),
});

const pageLimit: NumberParameter = { name: 'limit', description: 'How many entries.', default: 50, min: 1, max: 500 };

export function registerOwnCredits(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { payments: processor, lowBalancePico } = dashboard;

  app.get('/credits', async (request) => {
    const { id, balancePico, usagePico } = accountOf(request);
    const threshold = (await deps.store.notices.threshold(id)) ?? lowBalancePico;
    return {
      balance_usd: usdText(balancePico),
      total_credits_usd: usdText(balancePico + usagePico),
      total_usage_usd: usdText(usagePico),
      currency: 'USD',
      low_balance_usd: usdText(threshold),
      top_up: deps.payments
        ? { processor, available: true, message: byCheckout, ...amountBounds }
        : { processor, available: false, message: byOperator },
    };
  });

  app.put('/credits/notice', async (request) => {
    const { low_balance_usd: text } = bodyFields(request, newThreshold);
    const threshold = parseUsd(text);
    if (threshold === undefined || threshold < 0n || threshold > thresholdPicoMax) {
      const reason = `is ${JSON.stringify(text.slice(0, 50))}, but must be an amount like "5.00", from 0 (no notice) to 1000000`;
      throw gatewayError('field_invalid', { param: 'low_balance_usd', reason });
    }
    const { id } = accountOf(request);
    await deps.store.notices.setThreshold(id, threshold);
    await deps.audit.record(`account:${id}`, 'account.low_balance', id, { low_balance_usd: usdText(threshold) });
    return { low_balance_usd: usdText(threshold) };
  });

  app.get('/ledger', async (request) => {
    const limit = queryNumber(request, pageLimit);
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
