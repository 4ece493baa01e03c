/**
 * Puts a new `Socket` on the connection of another one. Node has no public way to read an accepted connection into a fixed buffer, or
 * to give one on that is read that way, so this uses fields of `net.Socket` that are not documented. They are the same from Node 18 to 24.
 */
import { Socket, type SocketConstructorOpts } from 'node:net';

interface Handle {
  reading: boolean;
  readStop(): void;
}

interface Internals {
  _handle: Handle | null;
  /** Counts its open connections, and ends after the last. */
  _server: unknown;
  server: unknown;
}

/** Reads into `buffer` and calls `callback` with the number of bytes; the buffer is free again when that returns. */
interface ReadInto {
  readonly buffer: Uint8Array;
  callback(length: number): boolean;
}

/** False on a connection that cannot be adopted: it is closed already, or Node has changed. */
export function canAdopt(socket: Socket): boolean {
  const { _handle: handle, _server: server } = socket as unknown as Internals;
  return typeof handle?.readStop === 'function' && typeof server === 'object';
}

/** `old` must have nothing left to write. It is of no more use; its listeners are never called again. */
export function adoptSocket(old: Socket, onread: ReadInto, paused: boolean): Socket {
  const from = old as unknown as Internals;
  const handle = from._handle!;
  old.setTimeout(0);
  from._handle = null;
  handle.reading = false;
  handle.readStop();
  // As node:http has it: the end of the client's side does not close ours by itself.
  const options = { handle, onread, allowHalfOpen: true, pauseOnCreate: paused };
  const socket = new Socket(options as SocketConstructorOpts);
  const to = socket as unknown as Internals;
  to._server = from._server;
  to.server = from.server;
  from._server = null;
  return socket;
}
