/** The interface to upstreams. HTTP and the in-process sandbox implement it. */

import type { Route } from '../../catalogue/route.js';
import type { OutgoingBody } from '../../wire/outgoing-body.js';

export interface UpstreamRequest {
  route: Route;
  /** Appended to the route's base address, for example `/chat/completions`. */
  path: string;
  body: OutgoingBody;
  stream: boolean;
  /** A flat list of names and values; the same object for every request of a provider while nothing changes. */
  headers: readonly string[];
}

/** Called in this order: onHeaders, onData…, then exactly one of onEnd and onError. Nothing is called after abort(). */
export interface UpstreamHandler {
  /** `headers` is a flat list of names and values. */
  onHeaders(status: number, headers: readonly string[], resume: () => void): void;
  /** False = pause until resume(). The bytes are reused after the call, so keep only copies. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onError(error: Error & { code?: string }): void;
}

export interface UpstreamCall {
  abort(): void;
}

export interface Transport {
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall;
  close(): Promise<void>;
}
