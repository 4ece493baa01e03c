/** Shared state on a real Redis for a file of tests: one server, and as many processes' views of it as a test asks for. */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/time.js';
import {
  openSharedState,
  type SharedState,
  type SharedStateOptions,
} from '../../src/cluster/redis/open-shared-state.js';
import { startRedis, type TestRedis, type TestRedisOptions } from './redis.js';

export interface RedisUnderTest {
  readonly server: TestRedis;
  /** Each call stands for one more process; closed after the test. All of a test are of one fleet. */
  open(options?: Partial<SharedStateOptions>): Promise<SharedState>;
}

export function useRedis(options?: TestRedisOptions): RedisUnderTest {
  let server: TestRedis | undefined;
  let namespace = '';
  const opened: SharedState[] = [];
  beforeAll(async () => {
    server = await startRedis(options);
  });
  afterEach(async () => {
    namespace = '';
    for (const state of opened.splice(0)) await state.close();
    // A test that failed in the middle must not take the next ones with it.
    if (server?.kind === 'foreign') return;
    server?.thaw();
    if (server?.pid === null) await server.restart();
  });
  afterAll(() => server?.stop());
  return {
    get server() {
      return server!;
    },
    async open(own) {
      namespace ||= randomBytes(6).toString('hex');
      const defaults = { redisUrl: server!.url, clock: systemClock, logger: silentLogger, namespace };
      const state = await openSharedState({ ...defaults, ...own });
      opened.push(state);
      return state;
    },
  };
}

/**
 * What is promised only while Redis is within reach. A machine that is short of processor time can keep even a healthy Redis from
 * answering within 40 ms; the attempt during which that happened says nothing, and is made again.
 */
export async function withinReach<T>(
  states: readonly SharedState[],
  attempt: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    for (const { link } of states) await until(() => link.up);
    let disturbed = false;
    for (const { link } of states) {
      link.onAway(() => {
        disturbed = true;
      });
    }
    try {
      const result = await attempt(number);
      if (!disturbed || number === 10) return result;
    } catch (error) {
      if (!disturbed || number === 10) throw error;
    }
  }
}

/** Waits for a condition, and says how long that took. */
export async function until(condition: () => boolean, withinMs = 60_000): Promise<number> {
  const startMs = performance.now();
  while (!condition()) {
    if (performance.now() - startMs > withinMs)
      throw new Error(`It did not happen within ${withinMs} ms: ${condition}`);
    await pause(5);
  }
  return performance.now() - startMs;
}

/** How late this process was at its worst while `work` ran; what a test must not blame on Redis. */
export async function withLag<T>(work: () => Promise<T>): Promise<{ result: T; lagMs: number }> {
  const monitor = monitorEventLoopDelay({ resolution: 1 });
  monitor.enable();
  const result = await work();
  monitor.disable();
  return { result, lagMs: monitor.max / 1e6 };
}
