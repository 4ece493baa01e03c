/** How long and how much the HTTP layer lets a caller take (docs/decisions/0012). */
import type { ServerOptions } from 'node:http';

/** Longer than the usual 60 s of a balancer, so that it never reuses a connection that we are closing (E6). */
export const keepAliveMs = 75_000;

export interface ServerLimits {
  readonly options: ServerOptions & { maxHeaderSize: number };
  /** Over this many, connections on which nothing is under way make room for new ones. */
  readonly connectionsMax: number;
}

export const serverLimits: ServerLimits = {
  options: {
    maxHeaderSize: 16 * 1024,
    /** Also how long a caller may take nothing of an answer that waits for it. */
    keepAliveTimeout: keepAliveMs,
    /** To the end of the head, from its first byte or, where none comes, from the connection on. */
    headersTimeout: 20_000,
    /** To the end of the body: 32 MiB take nearly that long at 1 Mbit/s. */
    requestTimeout: 300_000,
    connectionsCheckingInterval: 5_000,
    insecureHTTPParser: false,
    // Two Authorization headers become one with a comma, which is malformed, instead of the first one winning (E15).
    joinDuplicateHeaders: true,
    // Node's own refusal has no body; `headFault` makes the same check with the envelope.
    requireHostHeader: false,
    keepAlive: true,
    noDelay: true,
  },
  connectionsMax: 10_000,
};
