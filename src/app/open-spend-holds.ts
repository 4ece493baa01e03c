/** Opens the holds on balances, budgets and caps, which learn from the store what was spent. */
import { AgreedSpend } from '../accounts/spending/agreed-spend.js';
import { FleetSpendHolds } from '../accounts/spending/fleet-spend-holds.js';
import { SpendHolds, type SpendHoldsDeps, type Spending } from '../accounts/spending/spend-holds.js';
import type { Logger } from '../base/logger.js';
import type { RedisSpending, SpendSubject } from '../cluster/shared-spend.js';
import { type Store, StoreUnavailable } from '../storage/store.js';
import type { OpenParts } from './open-parts.js';

/** How long a request with a limit waits until it is known what was spent of it. */
const readMs = 5_000;

interface SpendParts extends Pick<SpendHoldsDeps, 'clock' | 'overdraft'> {
  readonly store: Pick<Store, 'keys' | 'brought' | 'usage' | 'accounts' | 'budgets' | 'spend'>;
  readonly journal: { settled(timeoutMs: number, keyId?: string): Promise<boolean> };
  readonly logger: Logger;
  /** null = this process is the only one. */
  readonly redis: RedisSpending | null;
}

export function openSpendHolds(
  { store, journal, clock, overdraft, logger, redis }: SpendParts,
  parts: OpenParts,
): Spending {
  const deps: SpendHoldsDeps = {
    clock,
    overdraft,
    settled: async (keyId) => {
      if (!(await journal.settled(readMs, keyId))) throw new StoreUnavailable('the journal was not settled in time');
    },
    spentSince: async ({ kind, id, accountId }, fromMs) => {
      if (kind !== 'key')
        return store.budgets.spentSince({ accountId, projectId: kind === 'project' ? id : null }, fromMs);
      const opening = await store.brought.openingSince(id, fromMs);
      if (fromMs === 0) return opening + (await store.keys.usage(id));
      return opening + ((await store.usage.spentSince(accountId, fromMs)).get(id) ?? 0n);
    },
  };
  if (!redis) return new SpendHolds(deps);
  const spentOf = async ({ kind, id, accountId, fromMs }: SpendSubject) => {
    if (kind !== 'balance') return deps.spentSince({ kind, id, accountId }, fromMs);
    return (await store.accounts.balances([accountId]))[0]?.usagePico ?? 0n;
  };
  const settled = () => deps.settled();
  const shared = parts.add(new AgreedSpend({ redis, store: store.spend, spentOf, settled, logger }), (part) =>
    part.close(),
  );
  return new FleetSpendHolds({ ...deps, shared, spentOf, logger });
}
