import { afterEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { useRedis } from '../../tests/support/redis-shared-state.js';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { Store } from '../storage/store.js';
import { type Deployment, type DeploymentDeps, openDeployment } from './deployment.js';

const redis = useRedis();
let deployment: Deployment | undefined;

afterEach(() => deployment?.close());

async function open(storage: Partial<Config['storage']>, overrides: Partial<DeploymentDeps> = {}) {
  const none = async () => {};
  deployment = await openDeployment({
    config: {
      storage: { databaseUrl: null, redisUrl: null, ...storage },
      routing: { sticky: true, stickyTtlMs: 60_000 },
    } as Config,
    ...{ store: new MemoryStore() as Store, clock: new ManualClock(), logger: silentLogger },
    ...{ replayed: none, settled: none, readStates: none, readCatalogue: none },
    ...overrides,
  });
  return deployment;
}

describe('a single process', () => {
  it('shares nothing: no figures of Redis, nothing degraded, nothing settled elsewhere', async () => {
    const alone = await open({});
    const load = vi.fn(async () => {});
    await alone.start(load);
    expect(load).toHaveBeenCalledOnce();
    expect([alone.figures(), alone.degraded(), alone.fleet]).toEqual([{}, [], null]);
    expect(await alone.findSettledElsewhere(async () => 'found')).toBeNull();
  });

  it('warns once, and is degraded, while another process serves from its PostgreSQL', async () => {
    const store = new MemoryStore();
    const close = vi.fn(async () => {});
    let found = (_: boolean) => {};
    const watch = async (onFound: (seen: boolean) => void) => {
      found = onFound;
      return { close };
    };
    Object.assign(store, { otherProcesses: { watch } });
    const warn = vi.fn();
    const alone = await open(
      { databaseUrl: 'postgres://x' },
      { store: store as Store, logger: { ...silentLogger, warn } },
    );
    await alone.start(async () => {});
    found(true);
    found(true);
    expect([alone.degraded(), warn.mock.calls.length]).toEqual([['redis_url'], 1]);
    found(false);
    expect(alone.degraded()).toEqual([]);
    await alone.close();
    expect(close).toHaveBeenCalled();
  });
});

describe('a process of a fleet', () => {
  it('counts with the others, and says whether Redis is away', async () => {
    const clock = systemClock;
    const one = await open({ redisUrl: redis.server.url }, { clock });
    await one.counters('requests').take('same', 1, 10);
    await one.start(async () => {});
    const up = one.degraded().length === 0 ? 1 : 0;
    expect(one.figures()).toMatchObject({ lodestone_redis_up: [{ labels: [], value: up }] });
    expect(one.fleet).not.toBeNull();
  });

  it('finds a record that another process settles a moment later', async () => {
    const one = await open({ redisUrl: redis.server.url }, { clock: systemClock });
    let asked = 0;
    expect(await one.findSettledElsewhere(async () => (++asked === 2 ? 'found' : null))).toBe('found');
    expect(await one.findSettledElsewhere(async () => null)).toBeNull();
  });
});
