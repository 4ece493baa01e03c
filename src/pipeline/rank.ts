/** Stage 5: the order in which candidates are tried, by the published score. */
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

/** An order is valid until an observed figure changes, so the usual request reuses the last one. */
const ordersByRoutes = new WeakMap<readonly Route[], Map<string, Order>>();

export function rank(
  { health }: RankPorts,
  eligible: readonly Route[],
  prefer: Preference,
  stream: boolean,
): readonly Route[] {
  if (eligible.length < 2) return eligible;
  const orders = ordersByRoutes.get(eligible) ?? new Map<string, Order>();
  const kind = stream ? `${prefer} stream` : prefer;
  const known = orders.get(kind);
  if (known && known.revision === health.revision) return known.routes;
  const { revision } = health;
  const routes = scores({ health }, eligible, prefer, stream).map(({ route }) => route);
  ordersByRoutes.set(eligible, orders.set(kind, { revision, routes }));
  return routes;
}

/** The same order, with its scores. */
export function scores(
  { health }: RankPorts,
  eligible: readonly Route[],
  prefer: Preference,
  stream: boolean,
): readonly Scored[] {
  return scored(eligible, prefer, (route) => health.observed(route.id, stream));
}
