/** What a payment processor reports, and what the store makes of it. The store's promise: each report counts once, whatever its order. */
import type { LedgerEntry } from './ledger-entry.js';

/** One report of the processor, under the id that it gave it. */
export interface PaymentEvent {
  readonly id: string;
  /** The payment that it is about; every report of one payment has the same. */
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
  /** The billing country that the processor has verified, ISO 3166-1 in upper case; null where it told none. */
  readonly country: string | null;
}

/** What has been refunded in all by then; refunds that failed before are not in it. */
export interface RefundedReport {
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
   * `recorded`: noted, with the entries that followed from it (none where it says nothing new). `repeated`: the event was known.
   * `unknown_account`: noted, but there is nobody to credit. `ask_again`: nothing was changed, because entries are due for an
   * account that the caller does not hold.
   */
  readonly result: 'recorded' | 'repeated' | 'unknown_account' | 'ask_again';
  readonly accountId: string | null;
  readonly entries: readonly LedgerEntry[];
  /** The account's billing country, where the payment has changed it. */
  readonly country: { readonly from: string | null; readonly to: string } | null;
}

export interface PaymentTerms {
  readonly nowMs: number;
  /** The account whose balance the caller holds in memory and will move by the entries. */
  readonly heldAccountId: string | null;
  /** The billing country of an account after a payment that states one; asked inside the transaction. */
  readonly countryAfter: (current: string | null, stated: string) => string | null;
}

export interface PaymentStore {
  /** Notes the event and moves ledger, balance and billing country by it, in one transaction. */
  record(event: PaymentEvent, terms: PaymentTerms): Promise<PaymentOutcome>;
  /** The account that a payment was credited to; null where none was yet. */
  accountOf(paymentId: string): Promise<string | null>;
  /** What an account's checkout has brought it; null until it is credited. */
  credited(accountId: string, checkoutId: string): Promise<bigint | null>;
}
