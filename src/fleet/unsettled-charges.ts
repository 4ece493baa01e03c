/**
 * What this process has taken off balances in memory and the store has not: a balance that is read from the store is too
 * high by it. Charges that are being sent are left out, as the store may have them already; no 402 comes of counting twice.
 */
import { rowId, type SettlementRow } from '../storage/settlement-row.js';

export class UnsettledCharges {
  private readonly waiting = new Map<string, Map<string, bigint>>();

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

  /** Call it before these are sent; what it gives back puts those of this process back, if they did not arrive. */
  sending(rows: readonly SettlementRow[]): () => void {
    const taken: [string, string, bigint][] = [];
    for (const row of rows) {
      if (row.chargePico === 0n) continue;
      const { accountId } = row;
      const charges = this.waiting.get(accountId);
      const id = rowId(row);
      // Rows that an earlier process, or another one, has left were never taken off a balance here.
      if (!charges?.delete(id)) continue;
      taken.push([accountId, id, row.chargePico]);
      if (charges.size === 0) this.waiting.delete(accountId);
    }
    return () => {
      for (const [accountId, id, costPico] of taken) this.add(accountId, id, costPico);
    };
  }
}
