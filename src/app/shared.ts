/** What a process has to do with others: the state that those of a fleet share, and a look around where it believes to be the only one. */

import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { SharedState } from '../cluster/redis/open-shared-state.js';
import type { Config } from '../config/config.js';
import type { Store } from '../storage/store.js';
import type { Opened } from './opened.js';

/** null = this process is the only one. */
export async function openShared(
  { storage: { redisUrl } }: Config,
  clock: Clock,
  logger: Logger,
  opened: Opened,
): Promise<SharedState | null> {
  if (redisUrl === null) return null;
  // Loaded only now: a process that is alone needs no client for Redis.
  const { openSharedState } = await import('../cluster/redis/open-shared-state.js');
  return opened.add(await openSharedState({ redisUrl, clock, logger }), (part) => part.close());
}

/** On the embedded store no second process starts; on an existing PostgreSQL nothing keeps one from it, so it is told (0022). */
export async function lookForOthers(
  { storage: { databaseUrl, redisUrl } }: Config,
  store: Store,
  logger: Logger,
  opened: Opened,
): Promise<{ readonly seen: boolean } | undefined> {
  if (databaseUrl === null || redisUrl !== null) return undefined;
  const others = { seen: false };
  const watching = await store.otherProcesses.watch((any) => {
    if (any && !others.seen) logger.warn({}, notAlone);
    others.seen = any;
  });
  opened.add(watching, (part) => part.close());
  return others;
}

const notAlone =
  'another process serves from the same database, and this one has no storage.redis_url to share its memory through: keys deleted, limits counted and balances used up at one are not seen by the other. Set storage.redis_url for all of them, or run one';
