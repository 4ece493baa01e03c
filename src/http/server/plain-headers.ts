/** The same heads as `response-head.ts`, for answers that node writes itself. */
import { apiHeaders, securityHeaders } from './common-headers.js';

export interface PlainHeads {
  readonly json: readonly string[];
  readonly stream: readonly string[];
}

function headsOf(common: Record<string, string>): PlainHeads {
  const start = Object.entries(common).flat();
  return {
    json: [...start, 'content-type', 'application/json; charset=utf-8'],
    stream: [
      ...start,
      ...['content-type', 'text/event-stream; charset=utf-8'],
      ...['cache-control', 'no-cache', 'x-accel-buffering', 'no'],
    ],
  };
}

export const apiHeads = headsOf(apiHeaders);

/** The dashboard's answers are for its own origin alone (ruling 19). */
export const sameOriginHeads = headsOf({ ...securityHeaders, 'cross-origin-resource-policy': 'same-origin' });
