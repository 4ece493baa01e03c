/** Whether a request was made on this host itself. A proxy on this host speaks for others, and says so in its headers. */
import type { IncomingMessage } from 'node:http';

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/** `address` is the caller's, as the trusted proxies name it: one that they do not name is the connection's own. */
export function isFromThisHost(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  address: string,
): boolean {
  if (!isLoopback(socket.remoteAddress ?? '') || !isLoopback(address)) return false;
  return forwardingHeaders.every((name) => headers[name] === undefined);
}

/** An IPv4 peer of a socket that takes both kinds is written `::ffff:127.0.0.1`. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}
