/** What is remembered of the conversation that a request belongs to. */
import type { Route } from '../catalogue/route.js';

export interface Stay {
  /** The hash that it is remembered under; null where it was not needed yet. */
  readonly name: string | null;
  /** False where it is known by its first messages only. */
  readonly isNamed: boolean;
  /** The route that served last; null = none is remembered. */
  readonly routeId: string | null;
  /** The remembered route where it is tried first. */
  first: Route | null;
}
