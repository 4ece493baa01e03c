/**
 * Whether a request was made on this host itself. A proxy on this host, or a page that a name service has pointed at this
 * host, speaks for somebody else: the first shows by headers that no scraper sends, the second by the name in `Host`.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress, isLoopbackHost } from '../../base/loopback.js';

/** What a client says about itself. Proxies name their callers in too many ways to list, so any other header is one of those. */
const ownHeaders = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'authorization', 'cache-control', 'connection'],
  ...['content-length', 'content-type', 'cookie', 'dnt', 'host', 'if-modified-since', 'if-none-match', 'keep-alive'],
  ...['pragma', 'priority', 'referer', 'te', 'upgrade-insecure-requests', 'user-agent'],
  ...['x-prometheus-scrape-timeout-seconds', 'traceparent', 'tracestate', 'baggage'],
]);
const isOwnHeader = (name: string): boolean => ownHeaders.has(name) || name.startsWith('sec-');

/** `address` is the caller's, as the trusted proxies name it: one that they do not name is the connection's own. */
export function isFromThisHost(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  address: string,
): boolean {
  if (!isLoopbackAddress(socket.remoteAddress ?? '') || !isLoopbackAddress(address)) return false;
  const host = (headers.host ?? '').replace(/:\d*$/, '');
  return isLoopbackHost(host) && Object.keys(headers).every(isOwnHeader);
}
