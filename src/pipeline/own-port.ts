/** The port of candidates with credentials of customers; absent where none can have any. */
import type { Route } from '../catalogue/route.js';
import type { Identity } from '../domain/account.js';
import type { OwnHealth } from '../health/own-health.js';

/** The candidates that a customer's own credentials make of routes, and what becomes of them. */
export interface OwnCandidates {
  readonly health: OwnHealth;
  /** Own candidates cost something, so that they need a balance too. */
  readonly hasFee: boolean;
  /** The routes with the credentials of the identity; the same list where it has none for them. */
  candidatesOf(identity: Identity, routes: readonly Route[]): readonly Route[];
  /** What an attempt has shown of its credential: it was accepted, or refused for the reason that the provider gave. */
  note(route: Route, refusal: string | null): void;
  /** A text of the provider without the secret that the route was called with. */
  mask(route: Route, text: string): string;
}
