/** The headers of a 2xx chat answer, as a flat list. */
import type { Route } from '../../catalogue/route.js';
import type { Exchange, PipelinePorts } from '../handover.js';

/** `overheadMs` is the time that was spent in Lodestone itself. */
export function answerHeaders(
  { keyLimiter }: Pick<PipelinePorts, 'keyLimiter'>,
  exchange: Exchange,
  route: Route,
  overheadMs: number,
): string[] {
  const headers = keyLimiter.headersOf(exchange.identity);
  headers.push(
    'x-request-id',
    exchange.requestId,
    'x-generation-id',
    exchange.generationId,
    'x-router-provider',
    route.provider.id,
    'x-router-locode',
    route.locode,
    'x-router-overhead-ms',
    overheadMs.toFixed(3),
  );
  return headers;
}
