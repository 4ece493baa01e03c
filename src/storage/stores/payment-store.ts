/**
 * Stores payments. What the processor reported is kept apart from what the ledger has, and each event reconciles the two
 * under the payment's lock. So repeated events, another order or two processes at once lead to the same balance, and an event
 * whose transaction did not commit leaves nothing.
 */
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { timeOrderedId } from '../../base/ids.js';
import type { LedgerEntry } from '../../domain/ledger-entry.js';
import type {
  MovementReport,
  PaidReport,
  PaymentEvent,
  PaymentOutcome,
  PaymentStore,
  PaymentTerms,
} from '../../domain/payment.js';
import type { Database } from '../database.js';
import { postEntry } from './ledger-store.js';

export function paymentStore(database: Database): PaymentStore {
  return {
    record: (event, terms) => recordOnce(database, event, terms),
    accountOf: (paymentId) => database.value('payment-account', accountOfPayment, [paymentId]),
    credited: (accountId, checkoutId) => database.value('payment-checkout', paidByCheckout, [accountId, checkoutId]),
  };
}

const accountOfPayment = 'select account_id from lodestone.payments where id = $1';
const paidByCheckout = `select paid_pico from lodestone.payments
  where checkout_id = $2 and account_id = $1 and paid_pico is not null`;

/** Rolls the transaction back. */
class NotHeld extends Error {}

async function recordOnce(database: Database, event: PaymentEvent, terms: PaymentTerms): Promise<PaymentOutcome> {
  try {
    return await database.transaction((db, client) => new Recording(db, client, event, terms).run());
  } catch (error) {
    if (error instanceof NotHeld) return { result: 'ask_again', ...nothing };
    throw error;
  }
}

const nothing = { accountId: null, entries: [], country: null } as const;

interface PaymentRow {
  account_id: string | null;
  paid_pico: bigint | null;
  refunded_pico: bigint;
  posted_pico: bigint;
  /** The sum of the movements: disputes and failed refunds. */
  moved_pico: bigint;
}

class Recording {
  private readonly entries: LedgerEntry[] = [];
  private country: PaymentOutcome['country'] = null;
  private newlyPaid = false;

  constructor(
    private readonly db: NodePgDatabase,
    private readonly client: PoolClient,
    private readonly event: PaymentEvent,
    private readonly terms: PaymentTerms,
  ) {}

  async run(): Promise<PaymentOutcome> {
    if (!(await this.isNew())) return { result: 'repeated', ...nothing };
    await this.lockPayment();
    const { report } = this.event;
    if (report.kind === 'paid') {
      if (!(await this.notePaid(report))) return { result: 'unknown_account', ...nothing };
    } else if (report.kind === 'refunded') await this.noteRefunded(report.totalPico);
    else await this.noteMovement(report);
    const accountId = await this.bringTogether();
    return { result: 'recorded', accountId, entries: this.entries, country: this.country };
  }

  /** Waits for another transaction with the same event: the event is known if that one commits, and new if it does not. */
  private async isNew(): Promise<boolean> {
    const { id, paymentId, report } = this.event;
    const { rowCount } = await this.client.query(
      `insert into lodestone.payment_events (id, payment_id, kind, received_at) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [id, paymentId, report.kind, new Date(this.terms.nowMs)],
    );
    return rowCount === 1;
  }

  /** Orders the events of one payment. The payment's lock always comes before the account's. */
  private async lockPayment(): Promise<void> {
    const { paymentId } = this.event;
    await this.client.query(
      'insert into lodestone.payments (id, created_at) values ($1, $2) on conflict (id) do nothing',
      [paymentId, new Date(this.terms.nowMs)],
    );
    await this.client.query('select 1 from lodestone.payments where id = $1 for update', [paymentId]);
  }

  /** False where there is no such account. A payment that another event has already credited stays as it is. */
  private async notePaid({ accountId, checkoutId, amountPico, country }: PaidReport): Promise<boolean> {
    const { rows } = await this.client.query<{ billing_country: string | null }>(
      'select billing_country from lodestone.accounts where id = $1 for no key update',
      [accountId],
    );
    const [account] = rows;
    if (!account) return false;
    const { rowCount } = await this.client.query(
      `update lodestone.payments set account_id = $2, checkout_id = $3, paid_pico = $4
       where id = $1 and paid_pico is null`,
      [this.event.paymentId, accountId, checkoutId, amountPico.toString()],
    );
    this.newlyPaid = rowCount === 1;
    if (this.newlyPaid && country !== null) await this.noteCountry(accountId, account.billing_country, country);
    return true;
  }

  private async noteCountry(accountId: string, from: string | null, stated: string): Promise<void> {
    const to = this.terms.countryAfter(from, stated);
    if (to === null || to === from) return;
    this.mustHold(accountId);
    await this.client.query('update lodestone.accounts set billing_country = $2 where id = $1', [accountId, to]);
    this.country = { from, to };
  }

  /**
   * The total of a later report is lower where a refund has failed in between, so the failed amount is added again. The
   * highest total wins: an older report that arrives late changes nothing.
   */
  private async noteRefunded(totalPico: bigint): Promise<void> {
    await this.client.query(
      `update lodestone.payments set refunded_pico = greatest(refunded_pico, $2::numeric + (
         select coalesce(sum(amount_pico), 0) from lodestone.payment_movements
         where payment_id = $1 and kind = 'refund_failed' and happened_at <= $3))
       where id = $1`,
      [this.event.paymentId, totalPico.toString(), new Date(this.event.happenedAt)],
    );
  }

  private async noteMovement({ kind, movementId, amountPico }: MovementReport): Promise<void> {
    const signed = kind === 'dispute_withdrawn' ? -amountPico : amountPico;
    await this.client.query(
      `insert into lodestone.payment_movements (id, payment_id, kind, amount_pico, happened_at) values ($1, $2, $3, $4, $5)
       on conflict do nothing`,
      [`${kind}:${movementId}`, this.event.paymentId, kind, signed.toString(), new Date(this.event.happenedAt)],
    );
  }

  /** Posts what the ledger does not have yet. Before the payment itself is known, there is no account to post to. */
  private async bringTogether(): Promise<string | null> {
    const { paymentId } = this.event;
    const { rows } = await this.client.query<PaymentRow>(
      `select p.*, (select coalesce(sum(m.amount_pico), 0) from lodestone.payment_movements m where m.payment_id = p.id)
         as moved_pico
       from lodestone.payments p where p.id = $1`,
      [paymentId],
    );
    const row = rows[0]!;
    if (row.account_id === null || row.paid_pico === null) return null;
    const due = row.paid_pico - row.refunded_pico + row.moved_pico - row.posted_pico;
    // The whole payment first, then what was taken back before it was known, so that the ledger shows what happened.
    const credit = this.newlyPaid ? row.paid_pico : 0n;
    await this.post(row.account_id, 'credit', credit);
    await this.post(row.account_id, 'adjustment', due - credit);
    if (due !== 0n) {
      await this.client.query('update lodestone.payments set posted_pico = posted_pico + $2 where id = $1', [
        ...[paymentId, due.toString()],
      ]);
    }
    return row.account_id;
  }

  private async post(accountId: string, kind: 'credit' | 'adjustment', amountPico: bigint): Promise<void> {
    if (amountPico === 0n) return;
    this.mustHold(accountId);
    const createdAt = this.terms.nowMs;
    const id = `led-${timeOrderedId(createdAt)}`;
    const note = noteOf(this.event, kind);
    const entry = { id, accountId, createdAt, kind, amountPico, generationId: null, note };
    this.entries.push(await postEntry(this.db, this.client, entry));
  }

  private mustHold(accountId: string): void {
    if (accountId !== this.terms.heldAccountId) throw new NotHeld();
  }
}

function noteOf({ processor, paymentId, report }: PaymentEvent, kind: 'credit' | 'adjustment'): string {
  const payment = `${processor} payment ${paymentId}`;
  if (report.kind === 'paid') return kind === 'credit' ? payment : `${payment}: refunded or disputed meanwhile`;
  if (report.kind === 'refunded') return `${payment}: refunded`;
  const what = { refund_failed: 'refund failed', dispute_withdrawn: 'disputed', dispute_reinstated: 'dispute won' };
  return `${payment}: ${what[report.kind]} (${report.movementId})`;
}
