/** One gate of a request: what its `provider` object asks of a route. */
import type { PriceMoment } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';

export interface RequestGate {
  /** As the 403 names it: `provider.only`. */
  readonly name: string;
  permits(route: Route, moment: PriceMoment): boolean;
}
