/**
 * One request to an upstream over HTTP/1.1: no redirects, no timeouts but ours, and one retry only: a request of which a kept
 * socket took not a byte was provably not sent, and goes out once more on a fresh one.
 */

import { Connections } from './connections.js';
import type { Connection, Exchange } from './http1/connection.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from './transport.js';
import { type Address, addressOf, requestTarget } from './upstream-address.js';

const sweepMs = 1_000;

interface Place extends Address {
  connections: Connections;
  /** Request heads up to the content length, by path and header list: they do not change. */
  heads: WeakMap<readonly string[], Map<string, string>>;
}

export class HttpTransport implements Transport {
  private readonly origins = new Map<string, Connections>();
  private readonly places = new Map<string, Place>();
  private readonly sweeper: NodeJS.Timeout;

  constructor(private readonly nowMs: () => number) {
    this.sweeper = setInterval(() => {
      for (const connections of this.origins.values()) connections.sweep();
    }, sweepMs).unref();
  }

  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const place = this.placeOf(request.route.baseUrl);
    const { body } = request;
    const head = `${headFor(place, request)}${body.length}\r\n\r\n`;
    return new HttpCall(place.connections, head, body, handler).start(place.connections.take());
  }

  /** Of all origins together. */
  connectionCounts(): { open: number; idle: number } {
    const counts = { open: 0, idle: 0 };
    for (const { open, idleCount } of this.origins.values()) {
      counts.open += open;
      counts.idle += idleCount;
    }
    return counts;
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    for (const connections of this.origins.values()) connections.close();
  }

  private placeOf(baseUrl: string): Place {
    const known = this.places.get(baseUrl);
    if (known) return known;
    const address = addressOf(baseUrl);
    const { origin, secure, hostname: host, port } = address;
    let connections = this.origins.get(origin);
    if (!connections) {
      connections = new Connections({ secure, host, port }, this.nowMs);
      this.origins.set(origin, connections);
    }
    const place: Place = { ...address, connections, heads: new WeakMap() };
    this.places.set(baseUrl, place);
    return place;
  }
}

/** Ends in `content-length: `. The header list of a provider is one object, so it is its own key. */
function headFor(address: Place, { path, headers }: UpstreamRequest): string {
  let byPath = address.heads.get(headers);
  if (!byPath) {
    byPath = new Map();
    address.heads.set(headers, byPath);
  }
  let head = byPath.get(path);
  if (head === undefined) {
    head = `POST ${requestTarget(address, path)} HTTP/1.1\r\nhost: ${address.host}\r\n`;
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
    readonly body: string | Buffer,
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
      this.start(this.connections.fresh());
      return;
    }
    this.over = true;
    this.handler.onError(error);
  }
}
