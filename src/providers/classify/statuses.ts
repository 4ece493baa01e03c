/** What a status means where the error itself does not say more. */
import type { Meaning } from './failure.js';

const meanings: Readonly<Record<number, Meaning>> = {
  401: 'auth',
  402: 'billing',
  403: 'auth',
  404: 'unknown_model',
  // Method, media type and preconditions are the same for every request, so no client can correct them.
  405: 'server_error',
  406: 'server_error',
  407: 'auth',
  408: 'server_error',
  409: 'server_error',
  410: 'unknown_model',
  411: 'server_error',
  412: 'server_error',
  417: 'server_error',
  418: 'server_error',
  420: 'rate_limit',
  421: 'server_error',
  423: 'server_error',
  424: 'server_error',
  425: 'capacity',
  426: 'server_error',
  428: 'server_error',
  429: 'rate_limit',
  431: 'server_error',
  444: 'server_error',
  451: 'auth',
  499: 'server_error',
  501: 'rejected',
  529: 'capacity',
};

export function meaningOfStatus(status: number): Meaning {
  const known = meanings[status];
  if (known) return known;
  if (status >= 400 && status < 500) return 'rejected';
  return status >= 200 && status < 400 ? 'malformed' : 'server_error';
}

/** Error names that mean no more than a status, as code words. */
const names: Readonly<Record<string, number>> = {
  'invalid request error': 400,
  'invalid request': 400,
  'invalid argument': 400,
  'failed precondition': 400,
  'out of range': 400,
  'bad request': 400,
  'bad request error': 400,
  'validation exception': 400,
  'validation error': 422,
  'unprocessable entity': 422,
  'unprocessable entity error': 422,
  unauthenticated: 401,
  'authentication error': 401,
  'permission denied': 403,
  'permission denied error': 403,
  'permission error': 403,
  'access denied exception': 403,
  'not found': 404,
  'not found error': 404,
  'resource not found exception': 404,
  'resource exhausted': 429,
  'rate limit error': 429,
  'rate limit exceeded': 429,
  'too many requests': 429,
  'throttling exception': 429,
  'overloaded error': 529,
  unavailable: 503,
  'service unavailable': 503,
  'service unavailable error': 503,
  'service unavailable exception': 503,
  internal: 500,
  'internal server error': 500,
  'internal server exception': 500,
  'api error': 500,
  'server error': 500,
  'deadline exceeded': 504,
  unimplemented: 501,
  'not implemented': 501,
  cancelled: 499,
};

export function statusOfName(name: string): number | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined;
}

export function statusOf(code: string): number | undefined {
  return /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}
