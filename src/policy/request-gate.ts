/** One gate of a request: what its `provider` object asks of a route. */
import type { Route } from '../catalogue/route.js';

/** When the request came, and about how long its prompt is: a price may depend on both. */
export interface RequestMoment {
  readonly atMs: number;
  readonly promptTokens: number;
}

export interface RequestGate {
  /** As the 403 names it: `provider.only`. */
  readonly name: string;
  permits(route: Route, moment: RequestMoment): boolean;
}
