/** Stage 5: the order in which candidates are tried, by the published score. */
import { type PriceMoment, priceKey } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import type { RouteHealth } from '../health/route-health.js';
import type { Preference } from '../policy/routing-policy.js';
import { type Scored, scored } from './rank/score.js';

export interface RankPorts {
  health: Pick<RouteHealth, 'observed' | 'revision'>;
}

interface Order {
  revision: number;
  routes: readonly Route[];
}

/** An order is valid until an observed figure or a price changes, so the usual request reuses the last one. */
const ordersByRoutes = new WeakMap<readonly Route[], Map<string, Order>>();
/** Two for each preference, times the prices that occur; more are not worth keeping. */
const ordersMax = 256;

export interface Ranking {
  readonly prefer: Preference;
  readonly stream: boolean;
  readonly moment: PriceMoment;
}

export function rank({ health }: RankPorts, eligible: readonly Route[], ranking: Ranking): readonly Route[] {
  if (eligible.length < 2) return eligible;
  const { prefer, stream, moment } = ranking;
  let orders = ordersByRoutes.get(eligible);
  const prices = priceKey(eligible, moment);
  const kind = `${stream ? `${prefer} stream` : prefer}${prices === '' ? '' : ` ${prices}`}`;
  const known = orders?.get(kind);
  if (known && known.revision === health.revision) return known.routes;
  const { revision } = health;
  const routes = scores({ health }, eligible, ranking).map(({ route }) => route);
  if (!orders || orders.size >= ordersMax) {
    orders = new Map();
    ordersByRoutes.set(eligible, orders);
  }
  orders.set(kind, { revision, routes });
  return routes;
}

/** The same order, with its scores. */
export function scores(
  { health }: RankPorts,
  eligible: readonly Route[],
  { prefer, stream, moment }: Ranking,
): readonly Scored[] {
  return scored(eligible, prefer, moment, (route) => health.observed(route.id, stream));
}
