/** One movement of an account's balance. */
export interface LedgerEntry {
  id: string;
  accountId: string;
  createdAt: number;
  kind: 'credit' | 'usage' | 'adjustment';
  /** Negative for usage. */
  amountPico: bigint;
  /** The balance after this entry, in the order of the ledger. */
  balancePico: bigint;
  generationId: string | null;
  note: string | null;
}
