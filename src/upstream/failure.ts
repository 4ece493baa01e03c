/** What an upstream failure means to us (§7.5), whatever status it wore. */
import type { Budget } from './call.js';

export type Meaning =
  /** The request itself was rejected: 400, the walk stops, no breaker (§7.5.2). */
  | 'rejected'
  | 'capacity'
  | 'rate_limit'
  | 'auth'
  | 'unknown_model'
  | 'server_error'
  | 'malformed'
  | 'connection'
  | 'timeout'
  /** A daily quota is spent: the route is held (ruling 5). */
  | 'quota'
  | 'pricing_fault';

export interface Failure {
  meaning: Meaning;
  status: number | null;
  /** Fit to be shown to a caller: short, without markup, scrubbed. */
  quote: string;
  /** Only on timeouts. */
  budget?: { name: Budget; ms: number };
}
