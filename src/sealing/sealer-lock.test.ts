/** A process that loses its lock, or stands still, in the middle of a sealing. */
import { describe, expect, it } from 'vitest';
import { useSealers } from '../../tests/support/sealer-rig.js';
import type { Sealing } from '../storage/log-types.js';
import type { Sealer } from './sealer.js';

const rig = useSealers();

/** Runs the sealing of a process up to its last write, lets `meanwhile` happen, and then lets it go on. */
async function interrupted(meanwhile: () => Promise<void>): Promise<boolean> {
  const { log } = rig.store;
  const store = {
    ...log,
    seal: <T>(work: (sealing: Sealing) => Promise<T>) =>
      log.seal((sealing) =>
        work({
          ...sealing,
          write: async (batch) => {
            await meanwhile();
            await sealing.write(batch);
          },
        }),
      ),
  };
  const sealer = rig.sealer();
  Object.assign((sealer as unknown as { options: object }).options, { store });
  return sealer.round();
}

const sealed = async (sealer: Sealer): Promise<number> => {
  for (let turn = 0; turn < 100 && !(await sealer.round()); turn++);
  return (await rig.store.log.status()).size;
};

describe('another process seals meanwhile, and what the first one does afterwards changes nothing', () => {
  it('where the connection of the first one is gone, and its lock with it', async () => {
    await rig.settle(3);
    await rig.sealer().round();
    await rig.settle(4);
    const done = await interrupted(async () => {
      await rig.client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state = 'idle in transaction'`);
      await expect.poll(() => sealed(rig.sealer({ own: 'b' })), { timeout: 20_000 }).toBe(7);
    });
    expect(done).toBe(false);
    await rig.expectWhole(7);
  });

  it('where the first one stood still for longer than the server waits', { timeout: 60_000 }, async () => {
    await rig.settle(3);
    await rig.sealer().round();
    await rig.settle(4);
    const done = await interrupted(async () => {
      await expect.poll(() => sealed(rig.sealer({ own: 'b' })), { timeout: 40_000, interval: 200 }).toBe(7);
    });
    expect(done).toBe(false);
    await rig.expectWhole(7);
    await rig.settle(1);
    expect(await sealed(rig.sealer())).toBe(8);
    await rig.expectWhole(8);
  });
});
