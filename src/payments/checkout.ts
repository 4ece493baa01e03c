/** Opens a checkout: a page of the processor's on which one account pays for credit. What is credited, only its webhook says. */
import type { Logger } from '../base/logger.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { CheckoutSession, StripeClient } from './stripe-client.js';

/** Below it fees eat the payment; above it a person should look. In cents. */
export const checkoutCents = { min: 500, max: 1_000_000 };

/**
 * Marks what this service has sold. `client_reference_id` alone does not: a payment link of the same Stripe account takes any value
 * for it from its address, and would credit whatever else it sells.
 */
export const accountMark = 'lodestone_account';

export interface CheckoutRequest {
  accountId: string;
  email: string;
  cents: number;
  /** The same text for the same click: however often it is sent, one checkout is opened. */
  attempt: string;
  /** Where the processor sends the payer back to; the page adds how it went. */
  returnUrl: string;
}

export async function openCheckout(
  stripe: Pick<StripeClient, 'checkout'>,
  request: CheckoutRequest,
  logger: Logger,
): Promise<{ id: string; url: string }> {
  const { accountId, email, cents, attempt, returnUrl } = request;
  const metadata = { [accountMark]: accountId };
  const session = await answered(
    stripe.checkout.sessions.create(
      {
        mode: 'payment',
        client_reference_id: accountId,
        customer_email: email,
        metadata,
        // The charge carries it on, so that refunds and disputes can be told from other business in Stripe's own pages.
        payment_intent_data: { description: 'Lodestone credits', metadata },
        line_items: [
          { quantity: 1, price_data: { currency: 'usd', unit_amount: cents, product_data: { name: 'Credits' } } },
        ],
        // The billing country decides about §7.6.
        billing_address_collection: 'required',
        // Credit is in USD, and a refund in another currency could not be taken off exactly.
        adaptive_pricing: { enabled: false },
        success_url: `${returnUrl}?payment={CHECKOUT_SESSION_ID}`,
        cancel_url: `${returnUrl}?payment=cancelled`,
      },
      { idempotencyKey: `lodestone-${accountId}-${cents}-${attempt}` },
    ),
    logger,
  );
  if (session.url === null) throw unavailable(logger, { session: session.id, reason: 'the session has no address' });
  return { id: session.id, url: session.url };
}

async function answered(call: Promise<CheckoutSession>, logger: Logger): Promise<CheckoutSession> {
  try {
    return await call;
  } catch (error) {
    // Never its message: that of a wrong key quotes the key.
    const { type, code, statusCode, requestId } = error as Record<string, unknown>;
    throw unavailable(logger, { type, code, status: statusCode, stripe_request_id: requestId });
  }
}

function unavailable(logger: Logger, fields: Record<string, unknown>) {
  logger.error(fields, 'a checkout could not be opened');
  return gatewayError('payment_processor_unavailable');
}
