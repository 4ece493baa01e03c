/**
 * The seam towards an upstream. HTTP and the in-process sandbox stand behind it; a faster
 * transport can replace either without touching a stage.
 */
import type { Route } from '../../catalogue/route.js';

export interface UpstreamRequest {
  route: Route;
  /** Appended to the route's base address, e.g. `/chat/completions`. */
  path: string;
  /** A string is latin1: one character a byte. */
  body: string | Buffer;
  stream: boolean;
  /** Flat list of names and values; the same object for every request of a provider. */
  headers: readonly string[];
}

/** Called in this order: onHeaders, onData…, then exactly one of onEnd and onError. Nothing is called after abort(). */
export interface UpstreamHandler {
  /** `headers` is a flat list of names and values. */
  onHeaders(status: number, headers: readonly string[], resume: () => void): void;
  /** false = pause until resume(). The bytes are only lent: what is kept must be copied. */
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
