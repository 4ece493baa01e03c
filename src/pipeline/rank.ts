/** Stage 5: the order in which candidates are tried. The cheapest first; a route without a published price last (§2.9). */
import type { Route } from '../catalogue/route.js';
import type { Plan } from './handover.js';

export function rank(plan: Plan): readonly Route[] {
  if (plan.routes.length < 2) return plan.routes;
  return [...plan.routes].sort((a, b) => dearness(a) - dearness(b));
}

function dearness({ price }: Route): number {
  return price ? Number(price.input + price.output) : Number.POSITIVE_INFINITY;
}
