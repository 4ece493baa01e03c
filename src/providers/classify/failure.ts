/** What an upstream failure means to us, whatever status it wore, and whether it speaks against the route. */
import type { Budget } from '../call.js';

export type Meaning =
  /** The request itself was rejected: 400, the walk stops, no breaker. */
  | 'rejected'
  | 'capacity'
  | 'rate_limit'
  /** Our own credential, permission or region does not please the upstream. */
  | 'auth'
  /** Our wallet there is empty, or a cap that is no daily one is spent: nothing is held for it. */
  | 'billing'
  | 'unknown_model'
  | 'server_error'
  | 'malformed'
  | 'connection'
  | 'timeout'
  /** A daily quota is spent: the route is held. */
  | 'quota'
  | 'pricing_fault';

export interface Failure {
  meaning: Meaning;
  /** The words that decide are words of the request too: the failure is answered, but nothing is counted and nothing held. */
  disputed?: true;
  status: number | null;
  /** Fit to be shown to a caller: short, without markup, scrubbed. */
  quote: string;
  /** Only on timeouts. */
  budget?: { name: Budget; ms: number };
  /** How long the upstream asked to be left alone: advice for the breaker, never passed on. */
  retryAfterMs?: number;
}

/** What a failure does to its route: a rejection of the request nothing, a spent daily quota holds it, all else counts. */
export type Effect = 'none' | 'held' | 'counted';

export function effectOf(meaning: Meaning): Effect {
  if (meaning === 'rejected') return 'none';
  return meaning === 'quota' ? 'held' : 'counted';
}

/** What a broken connection says of itself. */
export function reasonOf(error: Error & { code?: string }): string {
  return error.code ? `${error.message} (${error.code})` : error.message;
}
