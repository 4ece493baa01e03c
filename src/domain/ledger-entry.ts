/** A statement takes the place of an account's usage of a pruned month. */
export const ledgerKinds = ['credit', 'usage', 'adjustment', 'statement'] as const;

export type LedgerKind = (typeof ledgerKinds)[number];

/** One movement of an account's balance. */
export interface LedgerEntry {
  id: string;
  accountId: string;
  createdAt: number;
  kind: LedgerKind;
  /** Negative for usage. */
  amountPico: bigint;
  /** The balance after this entry, in the order of the ledger. */
  balancePico: bigint;
  generationId: string | null;
  note: string | null;
}
