/** Single headers of a request without building the object of all of them, which would cost more than the rest of the head. */
import type { IncomingMessage } from 'node:http';
import { joinedHeader } from '../../base/raw-header.js';

/** A flat list of names and values as the object that node takes. */
export function headerObject(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) headers[flat[i]!] = flat[i + 1]!;
  return headers;
}

/** `name` in lower case. A header that was sent twice comes back joined with a comma, so that no first one wins. */
export function rawHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  return joinedHeader(rawHeaders, name);
}

/** Headers that every answer carries, the chat path's too: constants, so that they cost nothing to make. */

export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

/** Where the service is reached over https: browsers come back over https only, for a year. */
export const httpsOnlyHeader = { 'strict-transport-security': 'max-age=31536000' } as const;

/** The further headers of an answer that is written to a socket without a response object. */
export function socketHeaders(https: boolean): Readonly<Record<string, string>> {
  return https ? httpsOnlyHeader : {};
}

/** What a browser's script may read, and what the API reference describes. */
export const exposedHeaders: readonly string[] = [
  'x-request-id',
  'x-generation-id',
  'x-router-provider',
  'x-router-locode',
  'x-router-overhead-ms',
  'retry-after',
  ...['limit', 'remaining', 'reset'].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
];

/** `/v1/*` is open to every origin, without credentials. */
export const allowOrigin = { 'access-control-allow-origin': '*' } as const;
export const exposeHeaders = { 'access-control-expose-headers': exposedHeaders.join(', ') } as const;
export const corsHeaders = { ...allowOrigin, ...exposeHeaders } as const;

/** The further headers of a preflight's answer. `*` does not cover `authorization`, so that one is named. */
export const preflightHeaders = {
  'access-control-allow-headers': 'authorization, content-type, *',
  'access-control-max-age': '86400',
} as const;

/** Everything that an answer under `/v1/` starts with. */
export const apiHeaders = { ...securityHeaders, ...corsHeaders } as const;

export function isApiPath(path: string): boolean {
  return path.startsWith('/v1/');
}

// The same heads as `response-head.ts`, for answers that node writes itself.

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

/** The dashboard's answers are for its own origin alone. */
export const sameOriginHeads = headsOf({ ...securityHeaders, 'cross-origin-resource-policy': 'same-origin' });
