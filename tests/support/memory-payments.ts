/** Payments and thresholds in memory, for unit tests of what stands on them; PostgreSQL's own promises are tested against PostgreSQL. */

import type { LedgerEntry } from '../../src/domain/ledger-entry.js';
import type { NoticeStore } from '../../src/domain/notice.js';
import type { PaymentEvent, PaymentOutcome, PaymentStore, PaymentTerms } from '../../src/domain/payment.js';

interface Books {
  answer<T>(read: () => T): Promise<T>;
  countryOf(accountId: string): string | null | undefined;
  setCountry(accountId: string, country: string): void;
  post(entry: Omit<LedgerEntry, 'balancePico'>): LedgerEntry;
}

const nothing = { accountId: null, entries: [], country: null };

/** Knows payments that are paid, and each event once. */
export function memoryPayments(books: Books): PaymentStore {
  const events = new Set<string>();
  const paid = new Map<string, { accountId: string; checkoutId: string; amountPico: bigint }>();

  const record = ({ id, paymentId, processor, report }: PaymentEvent, terms: PaymentTerms): PaymentOutcome => {
    if (events.has(id)) return { result: 'repeated', ...nothing };
    events.add(id);
    if (report.kind !== 'paid') return { result: 'recorded', ...nothing };
    const { accountId, checkoutId, amountPico, country: stated } = report;
    const from = books.countryOf(accountId);
    if (from === undefined) return { result: 'unknown_account', ...nothing };
    if (paid.has(paymentId)) return { result: 'recorded', ...nothing, accountId };
    paid.set(paymentId, { accountId, checkoutId, amountPico });
    const to = stated === null ? from : terms.countryAfter(from, stated);
    const country = to !== null && to !== from ? { from, to } : null;
    if (country) books.setCountry(accountId, country.to);
    const entry = books.post({
      ...{ id: `led-${id}`, accountId, createdAt: terms.nowMs, kind: 'credit', amountPico },
      ...{ generationId: null, note: `${processor} payment ${paymentId}` },
    });
    return { result: 'recorded', accountId, entries: [entry], country };
  };

  return {
    record: (event, terms) => books.answer(() => record(event, terms)),
    accountOf: (paymentId) => books.answer(() => paid.get(paymentId)?.accountId ?? null),
    credited: (accountId, checkoutId) =>
      books.answer(() => {
        const found = [...paid.values()].find((one) => one.accountId === accountId && one.checkoutId === checkoutId);
        return found?.amountPico ?? null;
      }),
  };
}

/** Keeps thresholds; nothing ever crosses one. */
export function memoryNotices(answer: Books['answer']): NoticeStore {
  const thresholds = new Map<string, bigint>();
  return {
    threshold: (accountId) => answer(() => thresholds.get(accountId) ?? null),
    setThreshold: (accountId, pico) => answer(() => void thresholds.set(accountId, pico)),
    lookForCrossings: () => answer(() => 0),
    lookForRetirements: () => answer(() => 0),
    namesOf: () => answer(() => []),
    partlyDelivered: () => answer(() => {}),
    take: () => answer(() => []),
    delivered: () => answer(() => {}),
    tryAgainAt: () => answer(() => {}),
  };
}
