/** What a connection to Redis is made of, and its waiting times. */
import type { RedisOptions } from 'ioredis';
import type { Logger } from '../../base/logger.js';

/**
 * How long a request waits for Redis by default. Including the second round trip of a chat it stays under 50 ms: after one failed
 * wait, none waits again.
 */
export const requestWaitMs = 40;
/** The limit for work that no request waits for, or the limit of requests where that is longer. */
export const patientWaitMs = 500;

export interface LinkOptions {
  redisUrl: string;
  /** Distinguishes fleets that share a Redis. */
  namespace?: string | undefined;
  /** How long a request waits for Redis. */
  timeoutMs?: number | undefined;
  logger: Logger;
}

/** What makes a connection one of a cluster's. */
export interface NodeOptions {
  /** Wins over the address: how the node is reached, and with which credentials. */
  client: RedisOptions;
  covers(key: string): boolean;
  /** A key on this node. Only the master of its slot takes a write. */
  aliveKey(): string;
  /** Called when the node refuses a request. */
  onRefusal(message: string): void;
}

export function prefixOf(namespace: string | undefined): string {
  return namespace ? `lodestone:${namespace}:` : 'lodestone:';
}
