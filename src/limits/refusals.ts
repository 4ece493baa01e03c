/** Makes the rate limit errors with their `Retry-After`: a request sent that much later finds a new window. */
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';

export type Budget = 'requests' | 'tokens';

export function ipRateLimited(limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('ip_rate_limited', { limit, seconds }, { retryAfterSeconds: seconds });
}

export function adminRateLimited(limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('admin_rate_limited', { limit, seconds }, { retryAfterSeconds: seconds });
}

export function keyRateLimited(budget: Budget, limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('key_rate_limited', { budget, limit, seconds }, { retryAfterSeconds: seconds });
}

/** Rounded up, so that it is never too early and never 0. */
function retryAfterSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
