/** Applies a payment's report: first in the store, then in memory, then in the other processes, then in the audit log. */

import { usdText } from '../base/money.js';
import type { Clock } from '../base/time.js';
import type { Account } from '../domain/account.js';
import type { PaymentEvent, PaymentOutcome, PaymentTerms } from '../domain/payment.js';
import type { Store } from '../storage/store.js';
import type { AccountChanges } from './account-changes.js';
import type { AuditLog } from './audit.js';
import type { Identities } from './identities.js';

export type CountryAfter = PaymentTerms['countryAfter'];

interface PaymentParts {
  store: Pick<Store, 'payments'>;
  clock: Pick<Clock, 'now'>;
  audit: AuditLog;
  cache: Pick<Identities, 'account' | 'changed'>;
  changes: Pick<AccountChanges, 'run'>;
}

/** A payment is credited to an account once, so a second read is enough. More reads mean that something is wrong. */
const looksMax = 5;

/**
 * The account must be in memory before the store changes its balance, or the change could count twice. Only the payment names
 * the account; where it was credited in between, the transaction is rolled back and repeated.
 */
export async function recordPayment(
  parts: PaymentParts,
  event: PaymentEvent,
  countryAfter: CountryAfter,
): Promise<PaymentOutcome> {
  for (let look = 0; look < looksMax; look++) {
    const { report, paymentId } = event;
    const id = report.kind === 'paid' ? report.accountId : await parts.store.payments.accountOf(paymentId);
    const account = id === null ? null : await parts.cache.account(id);
    const record = () => recordFor(parts, event, account, countryAfter);
    const outcome = account === null ? await record() : await parts.changes.run(account.id, record);
    if (outcome.result !== 'ask_again') return outcome;
  }
  throw new Error(`the account of the payment ${event.paymentId} kept changing`);
}

async function recordFor(
  { store, clock, cache, audit }: PaymentParts,
  event: PaymentEvent,
  account: Account | null,
  countryAfter: CountryAfter,
): Promise<PaymentOutcome> {
  const terms = { nowMs: clock.now(), heldAccountId: account?.id ?? null, countryAfter };
  const outcome = await store.payments.record(event, terms);
  if (account === null) return outcome;
  for (const { amountPico } of outcome.entries) account.balancePico += amountPico;
  if (outcome.country) account.billingCountry = outcome.country.to;
  // Also for a repeated report: the process that recorded it may have died before it notified the others.
  await cache.changed([`account:${account.id}`]);
  await writeAudit(audit, event, account.id, outcome);
  return outcome;
}

async function writeAudit(
  audit: AuditLog,
  { id, paymentId }: PaymentEvent,
  accountId: string,
  { entries, country }: PaymentOutcome,
): Promise<void> {
  const about = { payment: paymentId, event: id };
  for (const { kind, amountPico, note } of entries) {
    const details = { ...about, amount_usd: usdText(amountPico), note };
    await audit.record('system', kind === 'credit' ? 'payment.credit' : 'payment.adjust', accountId, details);
  }
  if (!country) return;
  const details = { ...about, billing_country: country.to, before: country.from };
  await audit.record('system', 'payment.billing_country', accountId, details);
}
