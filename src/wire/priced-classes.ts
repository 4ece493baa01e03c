/** What a route has a price for, as far as the reading of a usage depends on it. */

export interface PricedClasses {
  readonly inputAudio?: bigint;
  readonly outputAudio?: bigint;
  readonly outputImage?: bigint;
  readonly tools?: ReadonlyMap<string, unknown>;
  readonly tiers?: ReadonlyMap<string, unknown>;
  /** The price from a date on, which may have more of them. */
  readonly later?: { readonly price: PricedClasses };
}

/** Whether the price has something, now or from its date on: which of the two holds is known when the answer is billed. */
export function isPriced(price: PricedClasses | null | undefined, has: (price: PricedClasses) => boolean): boolean {
  for (let at = price; at; at = at.later?.price) if (has(at)) return true;
  return false;
}
