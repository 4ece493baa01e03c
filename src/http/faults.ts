/** Turns every thrown value into a row of the error table, so that clients see nothing else. */
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import { type Meters, outcomeOfStatus, unknownEndpoint } from '../observability/metrics/meters.js';
import { QueryTooSlow, StoreUnavailable } from '../storage/store.js';

export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  // Never 401 or 402: an unreachable store says nothing about the client.
  if (error instanceof StoreUnavailable) return gatewayError('internal_server_error', { what: error.message });
  if (error instanceof QueryTooSlow) return gatewayError('query_too_slow', { seconds: error.timeoutMs / 1000 });
  const { code, statusCode } = (error ?? {}) as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return gatewayError('body_not_json', { reason: 'was not sent as JSON' });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return gatewayError('bad_http', { reason: 'the request cannot be read' });
  }
  return gatewayError('internal_server_error', { what: 'The service failed.' });
}

/** Counts a request that was refused before it reached Fastify or the chat handler. */
export function countRefused(meters: Meters, error: GatewayError): void {
  meters.request(unknownEndpoint, outcomeOfStatus(error.status));
  meters.error(error);
}
