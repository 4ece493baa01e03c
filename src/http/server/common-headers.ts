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
