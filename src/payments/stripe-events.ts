/**
 * Reads Stripe's events. Pure. An event that does not concern credit is ignored; one that a person must look at is refused.
 */
import { z } from 'zod';
import { type PicoUsd, picoPerUsd } from '../base/money.js';
import type { PaymentEvent, PaymentReport } from '../domain/payment.js';
import { accountMark } from './checkout.js';

export type ReadEvent =
  | { readonly kind: 'payment'; readonly event: PaymentEvent }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'no_event' }
  | { readonly kind: 'refused'; readonly reason: string; readonly paymentId: string | null };

/** Stripe's own limit for one charge in USD. */
const centsMax = 99_999_999;
const picoPerCent = picoPerUsd / 100n;

const id = z.string().min(1).max(255);
/** Stripe sends an id, or the object itself where the endpoint is set up so. */
const reference = z.union([id, z.object({ id }).transform((object) => object.id)]).nullish();
const envelope = z.object({
  id,
  type: z.string(),
  created: z.int().min(0),
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
});

const session = z.object({
  id,
  payment_status: z.string(),
  amount_total: z.unknown(),
  currency: z.string().nullish(),
  client_reference_id: z.string().nullish(),
  payment_intent: reference,
  metadata: z.record(z.string(), z.string()).nullish(),
  customer_details: z.object({ address: z.object({ country: z.string().nullish() }).nullish() }).nullish(),
});
const money = { currency: z.string(), payment_intent: reference, charge: reference };
const charge = z.object({ ...money, id, amount_refunded: z.unknown() });
const movement = z.object({ ...money, id, amount: z.unknown(), status: z.string().nullish() });

type Envelope = z.infer<typeof envelope>;
type Reader = (event: Envelope) => ReadEvent;

const readers: Readonly<Record<string, Reader>> = {
  'checkout.session.completed': readSession,
  'checkout.session.async_payment_succeeded': readSession,
  'charge.refunded': readRefunded,
  'refund.failed': readRefundEnd,
  'refund.updated': readRefundEnd,
  'charge.refund.updated': readRefundEnd,
  'charge.dispute.funds_withdrawn': (event) => readMovement(event, 'dispute_withdrawn'),
  'charge.dispute.funds_reinstated': (event) => readMovement(event, 'dispute_reinstated'),
};

export function readEvent(value: unknown): ReadEvent {
  const checked = envelope.safeParse(value);
  if (!checked.success) return { kind: 'no_event' };
  const read = Object.hasOwn(readers, checked.data.type) ? readers[checked.data.type] : undefined;
  return read ? read(checked.data) : ignored(`events of the type ${checked.data.type.slice(0, 100)} are not used`);
}

function readSession(event: Envelope): ReadEvent {
  const checked = session.safeParse(event.data.object);
  if (!checked.success) return unreadable(event);
  const { id: checkoutId, payment_intent, metadata, client_reference_id, payment_status, currency } = checked.data;
  const accountId = metadata?.[accountMark];
  if (accountId === undefined) return ignored('the checkout was not opened by this service');
  const paymentId = payment_intent ?? checkoutId;
  if (accountId !== client_reference_id) return refused('the checkout names two accounts', paymentId);
  if (payment_status !== 'paid') return ignored('the checkout is not paid yet');
  if (currency !== 'usd') return refused(`it was paid in ${shown(currency)}, not in usd`, paymentId);
  const amountPico = picoOf(checked.data.amount_total);
  if (amountPico === undefined || amountPico === 0n) {
    return refused(`${shown(checked.data.amount_total)} cents are no amount to credit`, paymentId);
  }
  const country = countryOf(checked.data.customer_details?.address?.country);
  return payment(event, paymentId, { kind: 'paid', accountId, checkoutId, amountPico, country });
}

function readRefunded(event: Envelope): ReadEvent {
  const checked = charge.safeParse(event.data.object);
  if (!checked.success) return unreadable(event);
  const { id: chargeId, payment_intent, amount_refunded, currency } = checked.data;
  const paymentId = payment_intent ?? chargeId;
  if (currency !== 'usd') return refused(`the refund is in ${shown(currency)}, not in usd`, paymentId);
  const totalPico = picoOf(amount_refunded);
  if (totalPico === undefined) return refused(`${shown(amount_refunded)} cents are no amount to refund`, paymentId);
  return payment(event, paymentId, { kind: 'refunded', totalPico });
}

/** A refund that failed returns the money to the operator, so the account gets its credit back. */
function readRefundEnd(event: Envelope): ReadEvent {
  const { status } = event.data.object;
  if (status !== 'failed' && status !== 'canceled') return ignored('the refund has not failed');
  return readMovement(event, 'refund_failed');
}

function readMovement(event: Envelope, kind: 'refund_failed' | 'dispute_withdrawn' | 'dispute_reinstated'): ReadEvent {
  const checked = movement.safeParse(event.data.object);
  if (!checked.success) return unreadable(event);
  const { id: movementId, payment_intent, charge: chargeId, currency, amount } = checked.data;
  const paymentId = payment_intent ?? chargeId;
  if (paymentId == null) return refused('it names no payment', null);
  if (currency !== 'usd') return refused(`it is in ${shown(currency)}, not in usd`, paymentId);
  const amountPico = picoOf(amount);
  if (amountPico === undefined) return refused(`${shown(amount)} cents are no amount`, paymentId);
  return payment(event, paymentId, { kind, movementId, amountPico });
}

function payment({ id, created }: Envelope, paymentId: string, report: PaymentReport): ReadEvent {
  return {
    kind: 'payment',
    event: { id, paymentId, processor: 'Stripe', happenedAt: created * 1000, report },
  };
}

function picoOf(cents: unknown): PicoUsd | undefined {
  const possible = typeof cents === 'number' && Number.isInteger(cents) && cents >= 0 && cents <= centsMax;
  return possible ? BigInt(cents) * picoPerCent : undefined;
}

/** Upper case, as the territory check expects. */
function countryOf(country: string | null | undefined): string | null {
  const code = country?.trim().toUpperCase() ?? '';
  return /^[A-Z]{2}$/.test(code) ? code : null;
}

const ignored = (reason: string): ReadEvent => ({ kind: 'ignored', reason });
const refused = (reason: string, paymentId: string | null): ReadEvent => ({ kind: 'refused', reason, paymentId });
const unreadable = ({ type }: Envelope) => refused(`its ${type} cannot be read`, null);
const shown = (value: unknown) => String(JSON.stringify(value)).slice(0, 40);
