/** Opens the state that the processes of a fleet share; null = this process is the only one (architecture 3). */
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import type { SharedState } from '../shared-state/redis/open-shared-state.js';
import type { Opened } from './opened.js';

export async function openShared(
  { storage: { redisUrl } }: Config,
  clock: Clock,
  logger: Logger,
  opened: Opened,
): Promise<SharedState | null> {
  if (redisUrl === null) return null;
  // Loaded only now: a process that is alone needs no client for Redis.
  const { openSharedState } = await import('../shared-state/redis/open-shared-state.js');
  return opened.add(await openSharedState({ redisUrl, clock, logger }), (part) => part.close());
}
