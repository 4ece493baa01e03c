/** Takes the connections of the HTTP server and reads them without node:http for as long as it can; the rest is node's. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Door } from '../../doors/door.js';
import type { Lifecycle } from '../app.js';
import type { SocketChatHandler } from '../deps.js';
import { canAdopt } from './adopt-socket.js';
import type { ConnectionOwner, ConnectionTimes, ParserFault, SweptConnection } from './connection-owner.js';
import type { OpenConnections, ServerLimits } from './connections.js';
import { FastConnection } from './fast-connection.js';
import type { SocketCaller } from './socket-caller.js';

interface FastConnectionsOptions {
  readonly server: Server;
  readonly open: OpenConnections;
  readonly limits: ServerLimits['options'];
  readonly lifecycle: Lifecycle;
  readonly bodyMemory: ConnectionOwner['bodyMemory'];
  readonly chat: SocketChatHandler;
  /** Answers a request whose handler threw. */
  failed(caller: SocketCaller, error: unknown): void;
}

type ConnectionListener = (this: Server, socket: Socket) => void;

export class FastConnections implements ConnectionOwner {
  readonly times: ConnectionTimes;
  readonly bodyMemory: ConnectionOwner['bodyMemory'];
  private readonly connections = new Set<SweptConnection>();
  /** What node:http does with a new connection. */
  private readonly nodeListeners: readonly ConnectionListener[];

  constructor(private readonly options: FastConnectionsOptions) {
    const { server, limits } = options;
    const { headersTimeout = 0, requestTimeout = 0, keepAliveTimeout = 0, connectionsCheckingInterval } = limits;
    this.times = { headersTimeout, requestTimeout, keepAliveTimeout };
    this.bodyMemory = options.bodyMemory;
    this.nodeListeners = server.listeners('connection') as ConnectionListener[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => this.accept(socket));
    const sweeper = setInterval(() => this.sweep(), connectionsCheckingInterval).unref();
    server.once('close', () => clearInterval(sweeper));
  }

  get isDraining(): boolean {
    return this.options.lifecycle.draining;
  }

  serve(caller: SocketCaller, door: Door): void {
    try {
      this.options.chat(caller, door);
    } catch (error) {
      this.options.failed(caller, error);
    }
  }

  handOver(connection: SweptConnection, socket: Socket): void {
    this.closed(connection);
    this.giveToNode(socket);
  }

  refuse(socket: Socket, { code, message }: ParserFault): void {
    this.options.server.emit('clientError', Object.assign(new Error(message), { code }), socket);
  }

  closed(connection: SweptConnection): void {
    this.connections.delete(connection);
    this.options.open.delete(connection);
  }

  private accept(socket: Socket): void {
    if (!canAdopt(socket)) {
      this.giveToNode(socket);
      return;
    }
    const connection = new FastConnection(socket, this);
    this.connections.add(connection);
    this.options.open.add(connection);
  }

  private giveToNode(socket: Socket): void {
    for (const listener of this.nodeListeners) listener.call(this.options.server, socket);
  }

  private sweep(): void {
    const now = performance.now();
    for (const connection of this.connections) connection.sweep(now);
  }
}
