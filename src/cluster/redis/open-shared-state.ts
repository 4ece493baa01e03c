/** Opens the shared state on Redis: one connection, to each node of a cluster, for the versions, counters and admission of a process. */

import { createHash } from 'node:crypto';
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import type { MemoryConversations } from '../conversations.js';
import { MemoryBuckets, type MemoryCountersOptions } from '../memory.js';
import type { Bucket, Buckets, Conversations, Totals } from '../ports.js';
import { ClusterLink } from './cluster-link.js';
import { RedisLink } from './link.js';
import { RedisAdmission } from './redis-admission.js';
import { RedisConversations } from './redis-conversations.js';
import { RedisCounters } from './redis-counters.js';
import { RedisSpend } from './redis-spend.js';
import { RedisVersions } from './redis-versions.js';
import { addTotalScript, giveBackScript, raiseTotalScript, takeBucketsScript } from './scripts.js';
import type { SharedLink } from './shared-link.js';

export interface SharedStateOptions {
  /** One server, or nodes of a cluster. */
  redisUrl: string | readonly string[];
  /** How long a request waits for Redis. */
  timeoutMs?: number;
  clock: Pick<Clock, 'monotonicMs'>;
  logger: Logger;
  /** Distinguishes fleets that share a Redis. */
  namespace?: string;
  /** For every family without its own options. */
  counting?: MemoryCountersOptions;
}

export interface SharedState {
  readonly link: SharedLink;
  readonly versions: RedisVersions;
  /** Counts addresses in the family `ip`, and the requests and tokens of keys in the families `requests` and `tokens`. */
  readonly admission: RedisAdmission;
  /** The counters of a family; the same object each time. */
  counters(family: string, options?: MemoryCountersOptions): RedisCounters;
  readonly totals: RedisTotals;
  readonly buckets: RedisBuckets;
  readonly spend: RedisSpend;
  /** The routes of conversations; `local` has those that this process has seen itself. */
  conversations(local: MemoryConversations, ttlMs: number): Conversations;
  readonly up: boolean;
  /** The number of requests admitted without Redis so far. */
  readonly fallbacks: number;
  close(): Promise<void>;
}

/** Callers choose addresses, so only this many are remembered in a window. */
const namesMax = 65_536;

/** Never fails: where Redis is out of reach, the shared state starts as away. */
export async function openSharedState(options: SharedStateOptions): Promise<SharedState> {
  const { clock, counting = { namesMax }, redisUrl, namespace, timeoutMs, logger } = options;
  const link: SharedLink =
    typeof redisUrl === 'string'
      ? new RedisLink({ redisUrl, namespace, timeoutMs, logger })
      : new ClusterLink({ redisUrls: redisUrl, namespace, timeoutMs, logger });
  const versions = new RedisVersions(link);
  const families = new Map<string, RedisCounters>();
  const counters = (family: string, own: MemoryCountersOptions = counting): RedisCounters => {
    const known = families.get(family) ?? new RedisCounters(link, clock, family, own);
    families.set(family, known);
    return known;
  };
  const spend = new RedisSpend(link);
  const counted = { peers: counters('ip'), requests: counters('requests'), tokens: counters('tokens') };
  const admission = new RedisAdmission(link, versions, counted, spend);
  await link.open();
  return {
    link,
    versions,
    admission,
    counters,
    totals: new RedisTotals(link),
    buckets: new RedisBuckets(link, clock),
    spend,
    conversations: (local, ttlMs) => new RedisConversations(link, local, ttlMs),
    get up() {
      return link.up;
    },
    get fallbacks() {
      return admission.unanswered;
    },
    close: () => {
      spend.close();
      return link.close();
    },
  };
}

/**
 * Buckets that all processes of a fleet share, so a fleet admits no more attempts than one process would. They are counted
 * here as well, and only here while Redis is away.
 */
class RedisBuckets implements Buckets {
  private readonly local: MemoryBuckets;

  constructor(
    private readonly link: SharedLink,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.local = new MemoryBuckets(clock);
  }

  async take(buckets: readonly Bucket[]): Promise<number> {
    const localWaitMs = this.local.take(buckets);
    // What this process alone has used up, the fleet has too.
    if (localWaitMs > 0) return localWaitMs;
    const figures = buckets.flatMap(({ capacity, refillMs }) => [String(capacity), String(refillMs)]);
    const { link } = this;
    const waitMs = await link.run<number>(takeBucketsScript, this.keysOf(buckets), figures, link.requestWaitMs);
    if (waitMs !== null && waitMs > 0) this.local.giveBack(buckets);
    return waitMs ?? 0;
  }

  async giveBack(buckets: readonly Bucket[]): Promise<void> {
    this.local.giveBack(buckets);
    const figures = buckets.map(({ refillMs }) => String(refillMs));
    await this.link.run(giveBackScript, this.keysOf(buckets), figures);
  }

  /** By their hash: the names contain emails, which Redis need not know. One take needs several, so all are in one slot. */
  private keysOf(buckets: readonly Bucket[]): string[] {
    const prefix = `${this.link.prefix}b:${this.link.tagOf('buckets')}`;
    return buckets.map(({ name }) => prefix + createHash('sha256').update(name).digest('base64url'));
  }
}

const livesMs = String(2 * 24 * 60 * 60 * 1000);

/** Sums in Redis. A sum lives for two days, longer than any sum that is needed: those of a UTC day. */
class RedisTotals implements Totals {
  constructor(private readonly link: SharedLink) {}

  add(name: string, amount: number): Promise<number | null> {
    return this.link.run<number>(addTotalScript, [this.keyOf(name)], [String(amount), livesMs]);
  }

  async atLeast(name: string, amount: number): Promise<void> {
    await this.link.run(raiseTotalScript, [this.keyOf(name)], [String(amount), livesMs]);
  }

  private keyOf(name: string): string {
    return `${this.link.prefix}t:${name}`;
  }
}
