/**
 * Sums that all processes of a fleet add to, such as the tokens that a route has used today. Nothing hangs on a sum alone: the
 * store can tell it again, so a shared state that forgot it is told by `atLeast`.
 */
export interface Totals {
  /** The sum with `amount` in it; null where shared state is out of reach. */
  add(name: string, amount: number): Promise<number | null>;
  /** Raises the sum to `amount` where it is lower. */
  atLeast(name: string, amount: number): Promise<void>;
}
