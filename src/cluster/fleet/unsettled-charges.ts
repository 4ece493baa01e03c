/**
 * What this process has taken off balances in memory and the store has not: a balance that is read from the store is too
 * high by it. Charges that are being sent are left out, as the store may have them already; no 402 comes of counting twice.
 */
import { rowId, type SettlementRow } from '../../domain/settlement-row.js';

/** How the sending of some rows has ended. */
export interface Sent {
  arrived(): void;
  /** They count again, as far as they are this process's. */
  refused(): void;
  /** The store may have them or not, so that no balance is certain which is read before they have arrived. */
  unanswered(): void;
}

export class UnsettledCharges {
  private readonly waiting = new Map<string, Map<string, bigint>>();
  private readonly unanswered = new Map<string, Set<string>>();
  private readonly underWay = new Set<readonly SettlementRow[]>();

  /** Takes the place of what was added for the generation before. */
  add(accountId: string, generationId: string, costPico: bigint): void {
    const charges = this.waiting.get(accountId);
    if (charges) charges.set(generationId, costPico);
    else this.waiting.set(accountId, new Map([[generationId, costPico]]));
  }

  /** Of the account, without what is being sent. */
  sum(accountId: string): bigint {
    let sum = 0n;
    for (const costPico of this.waiting.get(accountId)?.values() ?? []) sum += costPico;
    return sum;
  }

  /** Whether something of the account was sent and never answered. */
  inDoubt(accountId: string): boolean {
    return this.unanswered.has(accountId);
  }

  /** Whether something of the account is being sent just now, so that nobody knows whether the store's balance has it already. */
  beingSent(accountId: string): boolean {
    for (const rows of this.underWay) if (rows.some((row) => row.accountId === accountId)) return true;
    return false;
  }

  /** Call it before these are sent. */
  sending(rows: readonly SettlementRow[]): Sent {
    // Rows that an earlier process, or another one, has left were never taken off a balance here.
    const own = rows.filter((row) => row.chargePico !== 0n && this.take(row));
    this.underWay.add(own);
    const answered = () => {
      this.underWay.delete(own);
      for (const row of own) drop(this.unanswered, row);
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
    return drop(this.waiting, row) || this.unanswered.get(row.accountId)?.has(rowId(row)) === true;
  }
}

function drop(charges: Map<string, Pick<Map<string, unknown>, 'delete' | 'size'>>, row: SettlementRow): boolean {
  const ofAccount = charges.get(row.accountId);
  const dropped = ofAccount?.delete(rowId(row)) === true;
  if (ofAccount?.size === 0) charges.delete(row.accountId);
  return dropped;
}
