/** What a connection that is read without node:http needs of the server that it belongs to. */
import type { Socket } from 'node:net';
import type { Door } from '../../doors/door.js';
import type { BodyMemory } from '../../limits/body-memory.js';
import type { OpenConnection } from './connections.js';
import type { SocketCaller } from './socket-caller.js';

/** In milliseconds, as in the options of node:http. */
export interface ConnectionTimes {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
}

/** A connection whose times the server looks at. */
export interface SweptConnection extends OpenConnection {
  sweep(now: number): void;
}

/** The server that a connection belongs to. */
export interface ConnectionOwner {
  readonly times: ConnectionTimes;
  /** The process takes no new work. */
  readonly isDraining: boolean;
  readonly bodyMemory: Pick<BodyMemory, 'openEarly' | 'takeWaiting' | 'giveWaiting' | 'waitingRefusal'>;
  serve(caller: SocketCaller, door: Door): void;
  /** Gives the socket to node:http. */
  handOver(connection: SweptConnection, socket: Socket): void;
  /** Answers a fault in a request as node:http does, and closes the connection. */
  refuse(socket: Socket, fault: ParserFault): void;
  closed(connection: SweptConnection): void;
}

/** An error as node's own parser and its timers report it. */
export interface ParserFault {
  readonly code: string;
  readonly message: string;
}
