/** Opens a connection to an upstream through a proxy (CONNECT). TLS with the upstream begins on it afterwards. */
import { connect as connectPlain, type Socket } from 'node:net';
import type { UpstreamProxy } from '../upstream-proxy.js';
import type { TlsSessions } from './tls-sessions.js';

/** A longer head is not one of a proxy. */
const headBytesMax = 16 * 1024;
/**
 * A connection that is silent for this long is probed, and again after as long. So a network in between does not forget it, and one that
 * leads nowhere is found within 20 s (ten probes, a second apart), sooner than a request on it could time out.
 */
export const tcpKeepAliveMs = 10_000;

interface TunnelHandlers {
  /** Nothing listens to the socket any more. */
  onOpen(socket: Socket): void;
  onError(error: Error): void;
}

/** The socket to the proxy, on which exactly one handler is called unless the caller destroys it. */
export function openTunnel(
  proxy: UpstreamProxy,
  target: { host: string; port: number },
  sessions: TlsSessions,
  { onOpen, onError }: TunnelHandlers,
): Socket {
  const socket = proxy.secure ? sessions.open(proxy) : connectPlain({ host: proxy.host, port: proxy.port });
  // TLS inside of TLS does not pass it on to the socket below.
  socket.setNoDelay(true).setKeepAlive(true, tcpKeepAliveMs);
  let head = '';
  const release = () => {
    socket.off('data', read).off('end', closed).off('close', closed).off('error', fail);
    // An error of a socket that nobody listens to would end the process.
    socket.on('error', () => {});
  };
  const fail = (error: Error) => {
    release();
    socket.destroy();
    onError(proxyError(proxy, error));
  };
  const closed = () => fail(new Error('it closed the connection'));
  const read = (bytes: Buffer) => {
    head += bytes.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0 && head.length <= headBytesMax) return;
    const status = end < 0 ? undefined : /^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1];
    if (status === undefined) fail(new Error('it did not answer with HTTP/1.1'));
    else if (!status.startsWith('2')) fail(new Error(`it refused the connection (HTTP ${status})${adviceOf(status)}`));
    // The upstream speaks second: what came early did not come from it.
    else if (end + 4 < head.length) fail(new Error('it sent more than an answer to CONNECT'));
    else {
      release();
      onOpen(socket);
    }
  };
  socket.on('data', read).on('end', closed).on('close', closed).on('error', fail);
  socket.write(connectHead(proxy, target));
  return socket;
}

/** The variable names the proxy, because clients see the text. */
export function proxyError({ variable }: UpstreamProxy, error: Error & { code?: string }): Error {
  return Object.assign(new Error(`the proxy of ${variable}: ${error.message}`), { code: error.code ?? 'EPROXY' });
}

function adviceOf(status: string): string {
  return status === '407' ? ': it wants credentials, or others' : '';
}

function connectHead({ authorization }: UpstreamProxy, { host, port }: { host: string; port: number }): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const credentials = authorization === null ? '' : `proxy-authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`;
}
