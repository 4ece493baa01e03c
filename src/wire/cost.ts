/** What an answer costs, by class. */

/** The classes of a bill, in the order in which they are shown. */
export const costClasses = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'audio',
  'image',
  'tools',
  'request',
] as const;
export type CostClass = (typeof costClasses)[number];

/** Pico-dollars. A class without a price of its own is part of the class that it is billed as. */
export interface Cost {
  readonly pico: bigint;
  /** Only the classes that were used; their sum is `pico`. */
  readonly details: Readonly<Partial<Record<CostClass, bigint>>>;
  /** The tier whose price applied; null for the ordinary price. */
  readonly tier: string | null;
}
