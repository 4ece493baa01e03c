/**
 * The charges that this process has deducted in memory and the store has not: a balance read from the store is too high by
 * them. Charges that are being sent do not count, because the store may have them already, and counting twice could cause a
 * wrong 402.
 */
import { rowId, type SettlementRow } from '../domain/settlement-row.js';

/** Reports how the sending of some rows ended. */
export interface Sent {
  arrived(): void;
  /** The store refused them; this process's charges count again. */
  refused(): void;
  /** The store may or may not have them, so balances read before they arrive are uncertain. */
  unanswered(): void;
}

export class UnsettledCharges {
  private readonly waiting = new Map<string, Map<string, bigint>>();
  private readonly unanswered = new Map<string, Set<string>>();
  private readonly underWay = new Set<readonly SettlementRow[]>();

  /** Replaces what was added for the generation before. A charge of 0 is not kept: no row with a charge follows that would take it away. */
  add(accountId: string, generationId: string, costPico: bigint): void {
    const charges = this.waiting.get(accountId);
    if (costPico === 0n) drop(this.waiting, accountId, generationId);
    else if (charges) charges.set(generationId, costPico);
    else this.waiting.set(accountId, new Map([[generationId, costPico]]));
  }

  /** The account's charges without those that are being sent. */
  sum(accountId: string): bigint {
    let sum = 0n;
    for (const costPico of this.waiting.get(accountId)?.values() ?? []) sum += costPico;
    return sum;
  }

  /** Whether a charge of the account was sent and never answered. */
  inDoubt(accountId: string): boolean {
    return this.unanswered.has(accountId);
  }

  /** Whether a charge of the account is being sent, so that the store's balance may or may not include it. */
  beingSent(accountId: string): boolean {
    for (const rows of this.underWay) if (rows.some((row) => row.accountId === accountId)) return true;
    return false;
  }

  /** Call it before these rows are sent. */
  sending(rows: readonly SettlementRow[]): Sent {
    // Rows left by an earlier or another process were never deducted here.
    const own = rows.filter((row) => row.chargePico !== 0n && this.take(row));
    this.underWay.add(own);
    const answered = () => {
      this.underWay.delete(own);
      for (const row of own) drop(this.unanswered, row.accountId, rowId(row));
    };
    return {
      arrived: answered,
      refused: () => {
        answered();
        for (const row of own) this.add(row.accountId, rowId(row), row.chargePico);
      },
      unanswered: () => {
        this.underWay.delete(own);
        for (const row of own) {
          const ids = this.unanswered.get(row.accountId) ?? new Set();
          this.unanswered.set(row.accountId, ids.add(rowId(row)));
        }
      },
    };
  }

  private take(row: SettlementRow): boolean {
    const id = rowId(row);
    return drop(this.waiting, row.accountId, id) || this.unanswered.get(row.accountId)?.has(id) === true;
  }
}

type Charges = Map<string, Pick<Map<string, unknown>, 'delete' | 'size'>>;

function drop(charges: Charges, accountId: string, generationId: string): boolean {
  const ofAccount = charges.get(accountId);
  const dropped = ofAccount?.delete(generationId) === true;
  if (ofAccount?.size === 0) charges.delete(accountId);
  return dropped;
}
