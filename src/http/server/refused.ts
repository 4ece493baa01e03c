/** Requests that neither an endpoint nor the framework has seen: refused by their head alone, or by the parser. */
import type { GatewayError } from '../../errors/gateway-error.js';
import { type Meters, outcomeOfStatus, unknownEndpoint } from '../../observability/metrics/meters.js';

export function countRefused(meters: Meters, error: GatewayError): void {
  meters.request(unknownEndpoint, outcomeOfStatus(error.status));
  meters.error(error);
}
