/** Handles payments by Stripe: opens checkouts and applies the webhook's reports, each of them exactly once. */

import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { PaymentEvent, PaymentOutcome } from '../domain/payment.js';
import { gatewayError } from '../errors/gateway-error.js';
import { type CheckoutRequest, openCheckout } from './checkout.js';
import type { StripeClient } from './stripe-client.js';
import { type ReadEvent, readEvent } from './stripe-events.js';

/** Applies in both directions: a replayed call is refused, and so is one from a wrong clock. */
const toleranceSeconds = 300;

interface StripePaymentsDeps {
  stripe: StripeClient;
  webhookSecret: string;
  record: (event: PaymentEvent) => Promise<PaymentOutcome>;
  /** Writes to the audit log. */
  note: (action: string, subject: string, details: Record<string, unknown>) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

/** The outcome of a report. Every outcome is acknowledged, so that the processor does not send the report again. */
export type Receipt = 'recorded' | 'repeated' | 'ignored' | 'refused';

export class StripePayments {
  constructor(private readonly deps: StripePaymentsDeps) {}

  open(request: CheckoutRequest): Promise<{ id: string; url: string }> {
    return openCheckout(this.deps.stripe, request, this.deps.logger);
  }

  /** Throws errors of table-payments, and StoreUnavailable, after which the processor sends the report again. */
  async receive(body: Buffer, signature: string | undefined): Promise<Receipt> {
    const read = readEvent(this.verifyEvent(body, signature));
    // Not acknowledged: an event whose form has changed must not be lost unnoticed.
    if (read.kind === 'no_event') throw gatewayError('body_not_json', { reason: 'is not an event' });
    return read.kind === 'payment' ? this.recordEvent(read.event) : this.reportSkipped(read);
  }

  private verifyEvent(body: Buffer, signature: string | undefined): unknown {
    const { stripe, webhookSecret } = this.deps;
    if (signature === undefined || signature === '') throw signatureError('it has no stripe-signature header');
    let event: unknown;
    try {
      event = stripe.webhooks.constructEvent(body, signature, webhookSecret, 0);
    } catch (error) {
      if ((error as { type?: unknown }).type === 'StripeSignatureVerificationError') {
        throw signatureError('the signature is not that of this body');
      }
      // The signature is valid but the body is not, for example Stripe's thin events, which have no data.
      const reason = error instanceof SyntaxError ? 'is not valid JSON' : 'is not an event of the snapshot kind';
      throw gatewayError('body_not_json', { reason });
    }
    this.checkAge(signature);
    return event;
  }

  /** Runs after the signature check, which covers the time. The package itself accepts a time in the future. */
  private checkAge(signature: string): void {
    const time = signature
      .split(',')
      .filter((item) => item.startsWith('t='))
      .at(-1);
    if (!/^t=\d{1,12}$/.test(time ?? '')) throw signatureError('its time cannot be read');
    const seconds = Math.floor(this.deps.clock.now() / 1000) - Number(time?.slice(2));
    if (Math.abs(seconds) <= toleranceSeconds) return;
    const found = seconds < 0 ? `${-seconds} s in the future` : `${seconds} s ago`;
    throw gatewayError('webhook_time_invalid', { found, toleranceSeconds });
  }

  private async recordEvent(event: PaymentEvent): Promise<Receipt> {
    const { logger, note } = this.deps;
    const about = { event: event.id, payment: event.paymentId, report: event.report.kind };
    const { result, accountId, entries } = await this.deps.record(event);
    if (result === 'repeated') return 'repeated';
    if (result === 'unknown_account') {
      const account = event.report.kind === 'paid' ? event.report.accountId : null;
      logger.error({ ...about, account }, 'a payment is for an account that does not exist; handle it in Stripe');
      await note('payment.refused', event.paymentId, { ...about, account, reason: 'there is no such account' });
      return 'refused';
    }
    logger.info({ ...about, account: accountId, entries: entries.map(({ id }) => id) }, 'a payment was recorded');
    return 'recorded';
  }

  private async reportSkipped(read: Extract<ReadEvent, { kind: 'ignored' | 'refused' }>): Promise<Receipt> {
    const { logger, note } = this.deps;
    if (read.kind === 'ignored') {
      logger.debug({ reason: read.reason }, 'a webhook call was ignored');
      return 'ignored';
    }
    logger.error({ payment: read.paymentId, reason: read.reason }, 'a payment was not credited; handle it in Stripe');
    await note('payment.refused', read.paymentId ?? 'unknown', { reason: read.reason });
    return 'refused';
  }
}

function signatureError(reason: string) {
  return gatewayError('webhook_signature_invalid', { reason });
}
