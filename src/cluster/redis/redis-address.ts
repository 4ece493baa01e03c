/** Reads the address of the shared state as an operator writes it: `redis://`, `rediss://`, or a unix socket. */

/**
 * The form for the client: `unix:/path`, `unix:///path` and a bare path are the same socket; a query sets `db`, `username`,
 * `password`.
 */
export function clientAddress(redisUrl: string): string {
  return redisUrl.replace(/^unix:(\/\/)?(?=\/)/i, '');
}

/** The address without the password, for logs. */
export function maskedAddress(redisUrl: string): string {
  return redisUrl.replace(/^([a-z]+:\/\/[^:/?#@]*):.*@/i, '$1:***@').replace(/([?&]password=)[^&]*/gi, '$1***');
}
