/** The holds of routes: those of their own, and those of all the keys that a route may be called with. */
import type { QuotaHolds } from '../health/quota-holds.js';
import type { KeyPool } from '../providers/credentials/key-pool.js';

type Holds = Pick<QuotaHolds, 'isHeld' | 'view' | 'lift' | 'hold' | 'used'>;

export function routeHolds(holds: Holds, keys: Pick<KeyPool, 'spentUntil' | 'lift'>): Holds {
  return {
    isHeld: (routeId) => holds.isHeld(routeId) || keys.spentUntil(routeId) !== null,
    view: (routeId) => {
      const own = holds.view(routeId);
      const until = own === null ? keys.spentUntil(routeId) : null;
      return until === null ? own : { until, reason: 'upstream' };
    },
    lift: async (routeId) => {
      const isKeys = keys.lift(routeId);
      return (await holds.lift(routeId)) || isKeys;
    },
    hold: (routeId, reason) => holds.hold(routeId, reason),
    used: (route, tokens, createdAt) => holds.used(route, tokens, createdAt),
  };
}
