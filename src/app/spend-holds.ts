/** Opens the holds on balances and caps, which learn from the store what a key has spent. */
import { SpendHolds, type SpendHoldsDeps } from '../accounts/spending/spend-holds.js';
import { type Store, StoreUnavailable } from '../storage/store.js';

/** How long a capped key waits until it is known what it has spent. */
const readMs = 5_000;

interface SpendParts extends Pick<SpendHoldsDeps, 'clock' | 'overdraft'> {
  readonly store: Pick<Store, 'keys' | 'usage'>;
  readonly journal: { settled(timeoutMs: number): Promise<boolean> };
}

export function openSpendHolds({ store, journal, clock, overdraft }: SpendParts): SpendHolds {
  return new SpendHolds({
    clock,
    overdraft,
    settled: async () => {
      if (!(await journal.settled(readMs))) throw new StoreUnavailable('the journal was not settled in time');
    },
    spentSince: async (accountId, keyId, fromMs) =>
      fromMs === 0 ? store.keys.usage(keyId) : ((await store.usage.spentSince(accountId, fromMs)).get(keyId) ?? 0n),
  });
}
