import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryVersions } from '../../tests/support/memory-versions.js';
import { FleetStates } from './fleet-states.js';

const logger = { info() {}, warn() {}, error() {}, debug() {} } as never;

async function started() {
  const versions = new MemoryVersions();
  const clock = new ManualClock();
  const reads = { states: 0, catalogue: 0 };
  const deps = {
    versions,
    clock,
    logger,
    readStates: async () => void reads.states++,
    readCatalogue: async () => void reads.catalogue++,
  };
  const states = new FleetStates(deps);
  await states.loadFirst(async () => {});
  const upToNow = async () => {
    const [statesVersion, catalogueVersion] = (await versions.current(['states', 'catalogue'])) ?? [null, null];
    await states.upTo(statesVersion ?? null, catalogueVersion ?? null);
  };
  return { versions, clock, reads, deps, states, upToNow };
}

describe('model states, holds and the catalogue in a fleet', () => {
  it('are not read again while their versions stand, and waited for by nobody', async () => {
    const { versions, states, reads, upToNow } = await started();
    await upToNow();
    const [statesVersion, catalogueVersion] = (await versions.current(['states', 'catalogue']))!;
    expect(states.upTo(statesVersion!, catalogueVersion!)).toBeUndefined();
    expect(reads).toEqual({ states: 0, catalogue: 0 });
  });

  it('are read once by the next request after a change, each for itself', async () => {
    const { versions, reads, upToNow } = await started();
    await versions.raise(['states']);
    await Promise.all([upToNow(), upToNow()]);
    await upToNow();
    expect(reads).toEqual({ states: 1, catalogue: 0 });
    await versions.raise(['catalogue']);
    await upToNow();
    await upToNow();
    expect(reads).toEqual({ states: 1, catalogue: 1 });
  });

  it('are read by each request while shared state is away, the catalogue only when its change is heard', async () => {
    const { versions, states, reads, upToNow } = await started();
    versions.away = true;
    await upToNow();
    await upToNow();
    expect(reads).toEqual({ states: 2, catalogue: 0 });
    await states.reloadCatalogue();
    expect(reads.catalogue).toBe(1);
  });

  it('are read after an outage, which may have hidden a change', async () => {
    const { versions, reads, upToNow } = await started();
    versions.away = true;
    versions.away = false;
    await upToNow();
    expect(reads.states).toBe(1);
  });

  it('stay in force where they cannot be read, and nobody waits for the next try within a second', async () => {
    const { versions, clock, deps, states, upToNow } = await started();
    const good = deps.readStates;
    deps.readStates = async () => {
      throw new Error('away');
    };
    await versions.raise(['states']);
    await upToNow();
    expect(states.now()).toBeUndefined();
    deps.readStates = good;
    clock.advance(1_000);
    await upToNow();
    const [statesVersion, catalogueVersion] = (await versions.current(['states', 'catalogue']))!;
    expect(states.upTo(statesVersion!, catalogueVersion!)).toBeUndefined();
  });

  it('are read by the next request after a change, also right after a read that failed', async () => {
    const { versions, deps, upToNow, states } = await started();
    const good = deps.readStates;
    deps.readStates = async () => {
      throw new Error('away');
    };
    await versions.raise(['states']);
    await upToNow();
    deps.readStates = good;
    await versions.raise(['states']);
    await upToNow();
    const [statesVersion, catalogueVersion] = (await versions.current(['states', 'catalogue']))!;
    expect(states.upTo(statesVersion!, catalogueVersion!)).toBeUndefined();
  });
});
