/**
 * Opens a checkout: a page of the processor where one account pays for credit. Only the processor's webhook credits the
 * account.
 */
import type { Logger } from '../base/logger.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { CheckoutSession, StripeClient } from './stripe-client.js';

/** In cents. Below the minimum, fees use up the payment; above the maximum, a person should look at it. */
export const checkoutCents = { min: 500, max: 1_000_000 };

/**
 * Marks payments for this service. `client_reference_id` alone is not enough: a payment link of the same Stripe account takes
 * any value for it from its URL and would credit whatever else it sells.
 */
export const accountMark = 'lodestone_account';

export interface CheckoutRequest {
  accountId: string;
  email: string;
  cents: number;
  /** The same text for the same click, so that one checkout is opened however often it is sent. */
  attempt: string;
  /** The URL that the processor returns the payer to. The page adds the outcome. */
  returnUrl: string;
}

export async function openCheckout(
  stripe: Pick<StripeClient, 'checkout'>,
  request: CheckoutRequest,
  logger: Logger,
): Promise<{ id: string; url: string }> {
  const { accountId, email, cents, attempt, returnUrl } = request;
  const metadata = { [accountMark]: accountId };
  const session = await awaitAnswer(
    stripe.checkout.sessions.create(
      {
        mode: 'payment',
        client_reference_id: accountId,
        customer_email: email,
        metadata,
        // Copied to the charge, so that refunds and disputes can be told from other business in Stripe's dashboard.
        payment_intent_data: { description: 'Lodestone credits', metadata },
        line_items: [
          { quantity: 1, price_data: { currency: 'usd', unit_amount: cents, product_data: { name: 'Credits' } } },
        ],
        // The billing country decides whether the account is in a sanctioned territory.
        billing_address_collection: 'required',
        // Credit is in USD, and a refund in another currency could not be deducted exactly.
        adaptive_pricing: { enabled: false },
        success_url: `${returnUrl}?payment={CHECKOUT_SESSION_ID}`,
        cancel_url: `${returnUrl}?payment=cancelled`,
      },
      { idempotencyKey: `lodestone-${accountId}-${cents}-${attempt}` },
    ),
    logger,
  );
  if (session.url === null)
    throw unavailableError(logger, { session: session.id, reason: 'the session has no address' });
  return { id: session.id, url: session.url };
}

async function awaitAnswer(call: Promise<CheckoutSession>, logger: Logger): Promise<CheckoutSession> {
  try {
    return await call;
  } catch (error) {
    // The message is not logged, because that of a wrong key quotes the key.
    const { type, code, statusCode, requestId } = error as Record<string, unknown>;
    throw unavailableError(logger, { type, code, status: statusCode, stripe_request_id: requestId });
  }
}

function unavailableError(logger: Logger, fields: Record<string, unknown>) {
  logger.error(fields, 'a checkout could not be opened');
  return gatewayError('payment_processor_unavailable');
}
