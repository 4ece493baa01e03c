/** Redis fails under load: requests are delayed only briefly, a deleted key stays deleted, and each replica counts limits by itself. */

import { beforeAll, describe, expect, it } from 'vitest';
import { ask, heldUpMs, pause, scaled } from '../faults/fixture.js';
import { measuredTime } from '../support/measured-time.js';
import { inParallel, type Replicas } from '../support/replicas.js';
import { redisIsBack, statusesOf, throughOutage } from './outage.js';

const awayMs = scaled(3_000, 6_000);
const frozenMs = scaled(3_000, 5_000);
const limit = scaled(20, 40);

let fleet: Replicas;

async function limitedAccount() {
  const account = await fleet.a.createAccount();
  await fleet.a.admin('PATCH', `/accounts/${account.accountId}`, { limits: { requests_per_minute: limit } });
  return account;
}

/** How many of `count` requests over both are admitted. */
async function admitted(key: string, count: number): Promise<number> {
  let served = 0;
  await inParallel(count, 16, async (index) => {
    const { status } = await fleet.all[index % 2]!.chat(ask(), { key });
    expect([200, 429]).toContain(status);
    if (status === 200) served++;
  });
  return served;
}

/** A key is deleted while Redis is unreachable, through one replica; limits are counted before, meanwhile and after. */
async function revokedAndLimited(
  outage: Pick<Parameters<typeof throughOutage>[1], 'name' | 'lastsMs' | 'begin' | 'end'>,
) {
  const revoked = await fleet.a.createAccount();
  const limited = await limitedAccount();
  expect(await statusesOf(fleet, revoked, ask())).toEqual([200, 200]);
  const passed = { before: await admitted(limited.key, 10), meanwhile: 0, after: 0 };
  let acknowledgedMs = 0;
  const figures = await throughOutage(fleet, {
    ...outage,
    recovered: redisIsBack,
    async meanwhile() {
      // The first second belongs to the figures.
      await pause(1_000);
      const startedAt = performance.now();
      const deletion = fleet.b.admin('DELETE', `/accounts/${revoked.accountId}/keys/${revoked.keyId}`);
      passed.meanwhile = await admitted(limited.key, 4 * limit);
      expect((await deletion).status).toBe(204);
      acknowledgedMs = performance.now() - startedAt;
      for (let again = 0; again < 5; again++) expect(await statusesOf(fleet, revoked, ask())).toEqual([401, 401]);
    },
  });
  expect(await statusesOf(fleet, revoked, ask())).toEqual([401, 401]);
  passed.after = await admitted(limited.key, 2 * limit);
  const total = passed.before + passed.meanwhile + passed.after;
  console.log(
    `${outage.name}: deletion acknowledged after ${acknowledgedMs.toFixed(0)} ms; of a limit of ${limit} at both ` +
      `${passed.before} passed before, ${passed.meanwhile} meanwhile, ${passed.after} after`,
  );
  expect(total).toBeGreaterThanOrEqual(limit);
  expect(total).toBeLessThanOrEqual(limit * fleet.all.length);
  return figures;
}

export function redisAwaySuite(shared: () => Replicas): void {
  describe('Redis', () => {
    beforeAll(() => {
      fleet = shared();
    });

    it('killed and started again, empty: nothing fails, nothing comes back to life, limits stay within those of one replica each', async () => {
      await revokedAndLimited({
        name: 'Redis killed',
        lastsMs: awayMs,
        begin: () => fleet.redis.kill(),
        end: () => fleet.redis.restart(),
      });
    }, 180_000);

    it('frozen and thawed: the same, and no request waits for it longer than 50 ms', async () => {
      const figures: Awaited<ReturnType<typeof revokedAndLimited>>[] = [];
      /** Above what the machine itself took at that time, for an answer before the freeze or one that needs no part. */
      const waitedMs = () =>
        Math.min(
          ...figures.map(
            ({ slowestMs, slowestBeforeMs, slowestPlainMs }) =>
              slowestMs - Math.max(slowestBeforeMs, 2 * slowestPlainMs) - heldUpMs(),
          ),
        );
      // The promise is about Redis and not about a busy machine, so a second and a third freeze may show it.
      do {
        const freeze = { begin: () => fleet.redis.freeze(), end: () => fleet.redis.thaw() };
        figures.push(await revokedAndLimited({ name: 'Redis frozen', lastsMs: frozenMs, ...freeze }));
      } while (waitedMs() >= 50 && figures.length < 3);
      expect(waitedMs(), measuredTime).toBeLessThan(50);
    }, 240_000);
  });
}
