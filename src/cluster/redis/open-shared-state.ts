/** Shared state on Redis, put together: one connection for the versions, the counters and the admission of a process. */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { MemoryCountersOptions } from '../memory-counters.js';
import { RedisLink } from './link.js';
import { RedisAdmission } from './redis-admission.js';
import { RedisBuckets } from './redis-buckets.js';
import { RedisCounters } from './redis-counters.js';
import { RedisTotals } from './redis-totals.js';
import { RedisVersions } from './redis-versions.js';

export interface SharedStateOptions {
  redisUrl: string;
  clock: Pick<Clock, 'monotonicMs'>;
  logger: Logger;
  /** Tells fleets apart that share a Redis. */
  namespace?: string;
  /** For every family that is not opened with its own. */
  counting?: MemoryCountersOptions;
}

export interface SharedState {
  readonly link: RedisLink;
  readonly versions: RedisVersions;
  /** Counts addresses in the family `ip` and the requests of keys in the family `requests`. */
  readonly admission: RedisAdmission;
  /** The counters of a family; the same ones each time. */
  counters(family: string, options?: MemoryCountersOptions): RedisCounters;
  readonly totals: RedisTotals;
  readonly buckets: RedisBuckets;
  readonly up: boolean;
  /** Requests so far that were admitted without Redis. */
  readonly fallbacks: number;
  close(): Promise<void>;
}

/** Addresses are chosen by whoever calls, so no more of them are remembered a window (failure case F6). */
const namesMax = 65_536;

/** Never fails: where Redis is out of reach, shared state begins as away. */
export async function openSharedState(options: SharedStateOptions): Promise<SharedState> {
  const { clock, counting = { namesMax } } = options;
  const link = new RedisLink(options);
  const versions = new RedisVersions(link);
  const families = new Map<string, RedisCounters>();
  const counters = (family: string, own: MemoryCountersOptions = counting): RedisCounters => {
    const known = families.get(family) ?? new RedisCounters(link, clock, family, own);
    families.set(family, known);
    return known;
  };
  const admission = new RedisAdmission(link, versions, counters('ip'), counters('requests'));
  await link.open();
  return {
    link,
    versions,
    admission,
    counters,
    totals: new RedisTotals(link),
    buckets: new RedisBuckets(link, clock),
    get up() {
      return link.up;
    },
    get fallbacks() {
      return admission.unanswered;
    },
    close: () => link.close(),
  };
}
