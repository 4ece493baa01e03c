/** The part of a route that its dialect may use, made once for each route. */
import type { Route } from '../../catalogue/route.js';
import type { Target } from '../../providers/dialects/dialect.js';

const targets = new WeakMap<Route, Target>();

export function targetOf(route: Route): Target {
  const known = targets.get(route);
  if (known) return known;
  const { upstreamModel, baseUrl, streamUsage, maxOutputTokens, unsupportedParameters } = route;
  const target = { upstreamModel, baseUrl, streamUsage, maxOutputTokens, unsupportedParameters };
  targets.set(route, target);
  return target;
}
