/**
 * What a payment processor reports and how the store applies it. The store applies each report once, in whatever order they
 * arrive.
 */
import type { LedgerEntry } from './ledger-entry.js';

/** One report of the processor, under the processor's id for it. */
export interface PaymentEvent {
  readonly id: string;
  /** The payment that the report is about. All reports of one payment have the same id. */
  readonly paymentId: string;
  /** The processor's name, for the notes of ledger entries. */
  readonly processor: string;
  /** When it happened, by the processor's clock, in epoch milliseconds. */
  readonly happenedAt: number;
  readonly report: PaymentReport;
}

export interface PaidReport {
  readonly kind: 'paid';
  readonly accountId: string;
  readonly checkoutId: string;
  readonly amountPico: bigint;
  /** The billing country that the processor has verified, ISO 3166-1 in upper case; null where it reports none. */
  readonly country: string | null;
}

/** The total refunded so far. Refunds that failed are not included. */
interface RefundedReport {
  readonly kind: 'refunded';
  readonly totalPico: bigint;
}

/** Money that moved once, under an id of its own. */
export interface MovementReport {
  readonly kind: 'refund_failed' | 'dispute_withdrawn' | 'dispute_reinstated';
  readonly movementId: string;
  readonly amountPico: bigint;
}

export type PaymentReport = PaidReport | RefundedReport | MovementReport;

export interface PaymentOutcome {
  /**
   * `recorded`: stored, with the entries that follow from it (none where the report changes nothing). `repeated`: the event
   * was already stored. `unknown_account`: stored, but there is no account to credit. `ask_again`: nothing changed, because
   * the entries belong to an account that the caller does not hold.
   */
  readonly result: 'recorded' | 'repeated' | 'unknown_account' | 'ask_again';
  readonly accountId: string | null;
  readonly entries: readonly LedgerEntry[];
  /** The change of the account's billing country; null where the payment has not changed it. */
  readonly country: { readonly from: string | null; readonly to: string } | null;
}

export interface PaymentTerms {
  readonly nowMs: number;
  /** The account whose balance the caller holds in memory and will change by the entries. */
  readonly heldAccountId: string | null;
  /** Returns the billing country after a payment that states one. Called inside the transaction. */
  readonly countryAfter: (current: string | null, stated: string) => string | null;
}

export interface PaymentStore {
  /** Stores the event and applies it to ledger, balance and billing country, in one transaction. */
  record(event: PaymentEvent, terms: PaymentTerms): Promise<PaymentOutcome>;
  /** The account that a payment was credited to; null before the credit. */
  accountOf(paymentId: string): Promise<string | null>;
  /** The amount that an account's checkout has credited; null before the credit. */
  credited(accountId: string, checkoutId: string): Promise<bigint | null>;
}
