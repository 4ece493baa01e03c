/** Makes the error envelope of a response and the headers that go with it. */
import type { GatewayError } from './gateway-error.js';

interface ErrorEnvelope {
  error: { type: string; message: string; code?: string; param?: string; [receiptField: string]: unknown };
}

export function envelopeOf(error: GatewayError): ErrorEnvelope {
  const { row, param, extras } = error;
  return {
    error: {
      type: row.type,
      message: error.message,
      ...(row.code !== undefined && { code: row.code }),
      ...(param !== undefined && { param }),
      ...extras.receipt,
      ...(extras.details && { details: extras.details }),
    },
  };
}

export function headersOf(error: GatewayError): Record<string, string> {
  const { row, extras } = error;
  return {
    ...extras.headers,
    ...(row.retryAfter && { 'retry-after': String(extras.retryAfterSeconds ?? 1) }),
  };
}
