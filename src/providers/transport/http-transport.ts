/**
 * Sends requests to upstreams over HTTP/1.1, without redirects and with no timeouts of its own. The only retry: when a keep-alive
 * connection fails before the kernel took a byte, the request is sent once more on a new connection. Each origin has a pool of connections.
 */
import type { OutgoingBody } from '../../wire/outgoing-body.js';
import { Connections, type PoolOptions } from './connections.js';
import type { Connection, SentRequest } from './http1/connection.js';
import { TlsSessions } from './http1/tls-sessions.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from './transport.js';
import { type Address, addressOf, requestTarget } from './upstream-address.js';
import { noProxy, type ProxyChoice } from './upstream-proxy.js';

const sweepMs = 1_000;
/** Of all origins together, those that were idle for only a few seconds not included. */
const longIdleMax = 256;

interface TransportOptions {
  nowMs: () => number;
  /** How long an idle connection is kept at most. */
  idleMsMax: number;
  proxyOf?: ProxyChoice;
}

interface Endpoint extends Address {
  connections: Connections;
  /** What a proxy that is asked itself, without a tunnel, needs in a request; null elsewhere. */
  forwarded: { origin: string; authorization: string | null } | null;
  /** Request heads up to the content length, by header list and path: they do not change. */
  heads: WeakMap<readonly string[], Map<string, string>>;
}

export class HttpTransport implements Transport {
  private readonly origins = new Map<string, Connections>();
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly sweeper: NodeJS.Timeout;
  private readonly pool: PoolOptions;
  private readonly proxyOf: ProxyChoice;

  constructor({ nowMs, idleMsMax, proxyOf = noProxy }: TransportOptions) {
    this.pool = { nowMs, idleMsMax, sessions: new TlsSessions(nowMs) };
    this.proxyOf = proxyOf;
    this.sweeper = setInterval(() => this.sweep(), sweepMs).unref();
  }

  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const endpoint = this.endpointOf(request.route.baseUrl);
    const { body } = request;
    const head = `${headFor(endpoint, request)}${lengthOf(body)}\r\n\r\n`;
    return new HttpCall(endpoint.connections, head, body, handler).start(endpoint.connections.take());
  }

  /** The totals of all origins. */
  connectionCounts(): { open: number; idle: number } {
    const counts = { open: 0, idle: 0 };
    for (const { count, idleCount } of this.origins.values()) {
      counts.open += count;
      counts.idle += idleCount;
    }
    return counts;
  }

  private sweep(): void {
    const longIdle = [...this.origins.values()].flatMap((connections) => connections.sweep());
    if (longIdle.length <= longIdleMax) return;
    longIdle.sort((a, b) => b.idleSinceMs - a.idleSinceMs);
    for (const connection of longIdle.slice(longIdleMax)) connection.destroy();
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    for (const connections of this.origins.values()) connections.close();
  }

  private endpointOf(baseUrl: string): Endpoint {
    const known = this.endpoints.get(baseUrl);
    if (known) return known;
    const address = addressOf(baseUrl);
    const { origin, secure, hostname: host, port } = address;
    const proxy = this.proxyOf(address);
    let connections = this.origins.get(origin);
    if (!connections) {
      connections = new Connections({ secure, host, port, proxy }, this.pool);
      this.origins.set(origin, connections);
    }
    const forwarded = proxy && !secure ? { origin, authorization: proxy.authorization } : null;
    const endpoint: Endpoint = { ...address, connections, forwarded, heads: new WeakMap() };
    this.endpoints.set(baseUrl, endpoint);
    return endpoint;
  }
}

/** Ends with `content-length: `. A provider's header list is one object while it does not change, so it is the key. */
function headFor(address: Endpoint, { path, headers }: UpstreamRequest): string {
  let byPath = address.heads.get(headers);
  if (!byPath) {
    byPath = new Map();
    address.heads.set(headers, byPath);
  }
  let head = byPath.get(path);
  if (head === undefined) {
    const { forwarded, host } = address;
    head = `POST ${forwarded?.origin ?? ''}${requestTarget(address, path)} HTTP/1.1\r\nhost: ${host}\r\n`;
    if (forwarded?.authorization) head += `proxy-authorization: ${forwarded.authorization}\r\n`;
    for (let i = 0; i + 1 < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    head += 'connection: keep-alive\r\ncontent-length: ';
    byPath.set(path, head);
  }
  return head;
}

function lengthOf(body: OutgoingBody): number {
  return Array.isArray(body) ? body.reduce((length, piece) => length + piece.length, 0) : body.length;
}

class HttpCall implements UpstreamCall, SentRequest {
  private connection!: Connection;
  private over = false;
  private answered = false;
  private resent = false;

  constructor(
    private readonly connections: Connections,
    readonly head: string,
    readonly body: OutgoingBody,
    private readonly handler: UpstreamHandler,
  ) {}

  start(connection: Connection): this {
    this.connection = connection;
    connection.send(this);
    return this;
  }

  abort(): void {
    if (this.over) return;
    this.over = true;
    this.connection.destroy();
  }

  onFree(): void {
    this.connections.give(this.connection);
  }

  onHeaders(status: number, headers: readonly string[], resume: () => void): void {
    this.answered = true;
    this.handler.onHeaders(status, headers, resume);
  }

  onData(chunk: Buffer): boolean {
    return this.handler.onData(chunk);
  }

  onEnd(): void {
    this.over = true;
    this.handler.onEnd();
  }

  onError(error: Error): void {
    if (this.connection.unsent && !this.answered && !this.resent) {
      this.resent = true;
      this.start(this.connections.open());
      return;
    }
    this.over = true;
    this.handler.onError(error);
  }
}
