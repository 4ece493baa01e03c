/** Writes errors for a Responses WebSocket: the members of the API's error event, and the envelope of its HTTP errors with the status. */
import { envelopeOf, headersOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';

/** `headers` are those that an HTTP answer would have. */
export function socketError(error: GatewayError, headers: Readonly<Record<string, string>>, sequence = 0): string {
  const { row, message, param = null } = error;
  // An error inside of a stream has the status of the stream, which says nothing here.
  const status = error.status < 400 ? 500 : error.status;
  // Clients of this transport require a code.
  const code = row.code ?? row.type;
  const { connection: _, ...sent } = { ...headers, ...headersOf(error) };
  return JSON.stringify({
    ...{ type: 'error', status, code, message, param, sequence_number: sequence },
    error: { ...envelopeOf(error).error, code, param },
    headers: sent,
  });
}
