/** The Credits page: balance, ledger, the low-balance notice, and buying credit. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseUsd, picoPerUsd, usdText } from '../../base/money.js';
import { displayText } from '../../billing/display-currency.js';
import { type LedgerKind, ledgerKinds } from '../../domain/ledger-entry.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { checkoutCents } from '../../payments/checkout.js';
import { actorOf } from '../admin/audit.js';
import { ledgerEntryJson } from '../admin/credits.js';
import { bodyFields } from '../admin/fields.js';
import { settledWaitMs } from '../api/generations.js';
import { accountOf, callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { limitRule, queryNumber, queryText } from '../query.js';
import type { DashboardDeps } from './dashboard-deps.js';

const picoPerCent = picoPerUsd / 100n;
const usdOfCents = (cents: number) => usdText(BigInt(cents) * picoPerCent);

const amountBounds = { min_usd: usdOfCents(checkoutCents.min), max_usd: usdOfCents(checkoutCents.max) };

const newCheckout = z.strictObject({
  amount_usd: z.string('must be a decimal amount as text, like "25.00"'),
  /** Made once for each click, so that a repeated call opens no second checkout. */
  attempt: z.string().regex(/^[\w-]{8,64}$/, 'must be 8 to 64 letters, digits, _ or -'),
});

/** `POST credits/checkout` answers the address to pay at; `GET credits/checkout/{id}` says whether the credit has been added. */
export function registerCheckout(app: FastifyInstance, deps: HttpDeps, { addresses }: DashboardDeps): void {
  app.post('/credits/checkout', async (request) => {
    if (!deps.payments) throw gatewayError('checkout_not_offered');
    const { amount_usd, attempt } = bodyFields(request, newCheckout);
    const cents = centsOf(amount_usd);
    const caller = callerOf(request);
    const refusal = await deps.keyLimiter.countRequest(caller);
    if (refusal) throw refusal;
    const { id: accountId, email } = caller.account;
    const returnUrl = `${addresses().dashboard}/credits`;
    const { id, url } = await deps.payments.open({ accountId, email, cents, attempt, returnUrl });
    await deps.audit.record(actorOf(request), 'payment.checkout', accountId, { checkout: id, amount_usd });
    return { id, url };
  });

  app.get<{ Params: { id: string } }>('/credits/checkout/:id', async (request) => {
    const creditedPico = await deps.store.payments.credited(accountOf(request).id, request.params.id);
    return creditedPico === null
      ? { state: 'confirming', amount_usd: null }
      : { state: 'credited', amount_usd: usdText(creditedPico) };
  });
}

function centsOf(text: string): number {
  const pico = parseUsd(text);
  const cents = pico !== undefined && pico % picoPerCent === 0n ? Number(pico / picoPerCent) : Number.NaN;
  if (cents >= checkoutCents.min && cents <= checkoutCents.max) return cents;
  const reason = `is ${JSON.stringify(text.slice(0, 50))}, but must be an amount of whole cents from ${amountBounds.min_usd} to ${amountBounds.max_usd}`;
  throw gatewayError('field_invalid', { param: 'amount_usd', reason });
}

const byOperator =
  'Credit is added by the operator of this service: on the Accounts page of this dashboard, or with ' +
  '"lodestone credits add". Tell them your email address.';

const byCheckout =
  'You pay on a page of Stripe\u2019s. Credit is added when Stripe has confirmed the payment, mostly within seconds.';

const thresholdPicoMax = 1_000_000n * picoPerUsd;

const newThreshold = z.strictObject({
  low_balance_usd: z.string('must be a decimal amount as text, like "5.00"'),
});

const pageLimit = limitRule(50, 500, 'How many entries.');

export function registerOwnCredits(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { payments: processor, lowBalancePico, displayCurrency: shown } = dashboard;

  app.get('/credits', async (request) => {
    const { id, balancePico, usagePico } = accountOf(request);
    const threshold = (await deps.store.notices.threshold(id)) ?? lowBalancePico;
    const { creditPico, adjustmentPico } = await deps.store.ledger.posted(id);
    return {
      balance_usd: usdText(balancePico),
      total_credits_usd: usdText(balancePico + usagePico),
      total_usage_usd: usdText(usagePico),
      credited_usd: usdText(creditPico),
      adjusted_usd: usdText(adjustmentPico),
      currency: 'USD',
      display: shown && {
        ...shown,
        balance: displayText(balancePico, shown),
        credited: displayText(creditPico, shown),
        total_usage: displayText(usagePico, shown),
      },
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
    await deps.audit.record(actorOf(request), 'account.low_balance', id, { low_balance_usd: usdText(threshold) });
    return { low_balance_usd: usdText(threshold) };
  });

  app.get('/ledger', async (request) => {
    const limit = queryNumber(request, pageLimit);
    const before = queryText(request, 'after');
    const kind = kindOf(queryText(request, 'kind'));
    await deps.journal.settled(settledWaitMs);
    const filter = { ...(before !== undefined && { before }), ...(kind !== undefined && { kind }) };
    const entries = await deps.store.ledger.list(accountOf(request).id, limit + 1, filter);
    const data = entries.slice(0, limit).map((entry) => ({
      ...ledgerEntryJson(entry),
      ...(shown && { amount_display: displayText(entry.amountPico, shown) }),
    }));
    return { object: 'list', data, has_more: entries.length > limit };
  });
}

function kindOf(text: string | undefined): LedgerKind | undefined {
  if (text === undefined) return undefined;
  const kind = ledgerKinds.find((candidate) => candidate === text);
  if (!kind) throw gatewayError('field_invalid', { param: 'kind', reason: `must be one of ${ledgerKinds.join(', ')}` });
  return kind;
}
