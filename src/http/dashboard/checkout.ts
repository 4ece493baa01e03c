/** Buying credit: `POST credits/checkout` answers the address to pay at, `GET credits/checkout/{id}` whether it has been credited yet. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseUsd, picoPerUsd, usdText } from '../../base/money.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { checkoutCents } from '../../payments/checkout.js';
import { bodyFields } from '../admin/fields.js';
import { accountOf, callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import type { DashboardDeps } from './dashboard-deps.js';

const picoPerCent = picoPerUsd / 100n;
const usdOfCents = (cents: number) => usdText(BigInt(cents) * picoPerCent);

export const amountBounds = { min_usd: usdOfCents(checkoutCents.min), max_usd: usdOfCents(checkoutCents.max) };

const newCheckout = z.strictObject({
  amount_usd: z.string('must be a decimal amount as text, like "25.00"'),
  /** Made once a click, so that a call which is sent again opens no second checkout. */
  attempt: z.string().regex(/^[\w-]{8,64}$/, 'must be 8 to 64 letters, digits, _ or -'),
});

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
    await deps.audit.record(`account:${accountId}`, 'payment.checkout', accountId, { checkout: id, amount_usd });
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
