/** What a failure of an upstream means, whatever its status, and what it does to the route. */

/** A time budget of a call. */
export type TimeBudget = 'first-byte' | 'stream-idle' | 'overall';

export type Meaning =
  /** The request itself was rejected: the client gets a 400, no other route is tried, and no breaker counts it. */
  | 'rejected'
  | 'capacity'
  | 'rate_limit'
  /** The upstream refuses our credential, our permissions or our region. */
  | 'auth'
  /** Our account at the provider has no credit, or a limit other than a daily one is used up. The route is not held. */
  | 'billing'
  | 'unknown_model'
  | 'server_error'
  | 'malformed'
  | 'connection'
  | 'timeout'
  /** A daily quota is used up: the route is held. */
  | 'quota'
  | 'pricing_fault';

export interface Failure {
  meaning: Meaning;
  /**
   * The deciding words are also in the request, or the request asked for what the answer lacks: the client gets the failure, but it does
   * not count against the route.
   */
  disputed?: true;
  /** The answer passed a bound of size, and the request may have asked for that much: it ends the walk, and does not count either. */
  oversized?: true;
  status: number | null;
  /** What a client may see: short, without markup, credentials or addresses. */
  quote: string;
  /** `error.details` of the upstream's error, fit for clients. A native pass of an API that has them gives them on. */
  details?: object;
  /** Only on timeouts. */
  budget?: { name: TimeBudget; ms: number };
  /** How long the upstream asked to wait. The breaker uses it; clients never see it. */
  retryAfterMs?: number;
}

/** What a failure does to its route: a rejected request does nothing, a used-up daily quota holds it, all else counts. */
export type Effect = 'none' | 'held' | 'counted';

export function effectOf(meaning: Meaning): Effect {
  if (meaning === 'rejected') return 'none';
  return meaning === 'quota' ? 'held' : 'counted';
}

/** Statuses of others than who checks credentials: 404 and 410 are of a model or a path, 407 is of a proxy, 451 of a country. */
const notOfCredentials: ReadonlySet<number | null> = new Set([404, 407, 410, 451]);

/** Whether the upstream refuses the credential that was sent. */
export function refusesCredential({ meaning, status }: Pick<Failure, 'meaning' | 'status'>): boolean {
  return meaning === 'auth' && !notOfCredentials.has(status);
}

/** The message and code of a connection error. */
export function reasonOf(error: Error & { code?: string }): string {
  return error.code ? `${error.message} (${error.code})` : error.message;
}
