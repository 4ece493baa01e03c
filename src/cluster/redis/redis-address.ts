/** The address of shared state as an operator writes it: `redis://`, `rediss://`, or a unix socket. */

/** The form that the client takes: `unix:/path`, `unix:///path` and a bare path are the same socket; a query sets `db`, `username`, `password`. */
export function clientAddress(redisUrl: string): string {
  return redisUrl.replace(/^unix:(\/\/)?(?=\/)/i, '');
}

/** For logs: everything but the password. */
export function maskedAddress(redisUrl: string): string {
  return redisUrl.replace(/^([a-z]+:\/\/[^:/?#@]*):.*@/i, '$1:***@').replace(/([?&]password=)[^&]*/gi, '$1***');
}
