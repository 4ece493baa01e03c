/**
 * Sends requests to upstreams over HTTP/1.1, without redirects and with no timeouts of its own. The only retry: when a keep-alive
 * connection fails before the kernel took a byte, the request is sent once more on a new connection. Each origin has a pool of connections.
 */
import { type OutgoingBody, outgoingLength } from '../../wire/outgoing-body.js';
import { Connection, type Exchange, type Origin } from './http1/connection.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from './transport.js';
import { type Address, addressOf, requestTarget } from './upstream-address.js';
import { noProxy, type ProxyChoice } from './upstream-proxy.js';

const sweepMs = 1_000;

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

  constructor(
    private readonly nowMs: () => number,
    private readonly proxyOf: ProxyChoice = noProxy,
  ) {
    this.sweeper = setInterval(() => {
      for (const connections of this.origins.values()) connections.sweep();
    }, sweepMs).unref();
  }

  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const endpoint = this.endpointOf(request.route.baseUrl);
    const { body } = request;
    const head = `${headFor(endpoint, request)}${outgoingLength(body)}\r\n\r\n`;
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
      connections = new Connections({ secure, host, port, proxy }, this.nowMs);
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

class HttpCall implements UpstreamCall, Exchange {
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

/** A connection that was idle for longer is checked for a close before it is used. Under load hardly any is. */
const checkAfterMs = 50;
/** For this long after an origin closed an idle connection, every connection is checked before it is used. */
const distrustMs = 60_000;
/** How much the safe idle time grows back with every millisecond without another close. */
const regrowth = 0.1;

/**
 * The pool of keep-alive connections of one origin. It is a stack, so that taking a free one costs the same with one open stream or with
 * thousands. Each origin has its own pool, so a provider that hangs cannot use up another's connections.
 */
class Connections {
  private readonly idle: Connection[] = [];
  /** The idle time that was safe when this origin last closed an idle connection, at `closedAtMs`. */
  private safeIdleMs = Number.POSITIVE_INFINITY;
  private closedAtMs = Number.NEGATIVE_INFINITY;
  private closed = false;
  private openCount = 0;

  constructor(
    private readonly origin: Origin,
    private readonly nowMs: () => number,
  ) {}

  take(): Connection {
    const now = this.nowMs();
    for (let kept = this.idle.pop(); kept; kept = this.idle.pop()) {
      if (this.isUsable(kept, now)) {
        kept.checksFirst = now - kept.idleSinceMs > checkAfterMs || now - this.closedAtMs < distrustMs;
        return kept;
      }
      kept.destroy();
    }
    return this.open();
  }

  private isUsable(kept: Connection, now: number): boolean {
    const idleMs = now - kept.idleSinceMs;
    return kept.alive && idleMs < kept.idleMsMax && idleMs <= this.safeIdleAt(now);
  }

  private safeIdleAt(now: number): number {
    return this.safeIdleMs + (now - this.closedAtMs) * regrowth;
  }

  /** Half of the shortest idle time after which this origin closed a connection is considered safe. */
  private learnFrom(connection: Connection): void {
    const now = this.nowMs();
    const idleMs = now - connection.idleSinceMs;
    this.safeIdleMs = Math.min(this.safeIdleAt(now), idleMs / 2);
    this.closedAtMs = now;
  }

  open(): Connection {
    const connection = new Connection(this.origin);
    this.openCount++;
    connection.socket.once('close', () => this.openCount--);
    connection.onClosedByServer = () => this.learnFrom(connection);
    return connection;
  }

  give(connection: Connection): void {
    if (this.closed) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = this.nowMs();
    this.idle.push(connection);
  }

  /** Connections are taken from the top of the stack, so the one that is idle longest is at the bottom. */
  sweep(): void {
    const now = this.nowMs();
    let stale = 0;
    for (; stale < this.idle.length; stale++) {
      if (this.isUsable(this.idle[stale]!, now)) break;
    }
    for (const connection of this.idle.splice(0, stale)) connection.destroy();
  }

  /** Includes connections that are being opened and those in use. */
  get count(): number {
    return this.openCount;
  }

  get idleCount(): number {
    return this.idle.length;
  }

  close(): void {
    this.closed = true;
    for (const connection of this.idle.splice(0)) connection.destroy();
  }
}
