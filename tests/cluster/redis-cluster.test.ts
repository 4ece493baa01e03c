/** Nodes of a Redis cluster fail under load: limits hold, what was deleted stays deleted, and every answer is billed once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, full, pause, scaled } from '../faults/fixture.js';
import type { TestAccount } from '../support/client.js';
import { clusterIsPossible, startRedisCluster, type TestCluster } from '../support/redis-cluster.js';
import { inParallel, type Replicas, startReplicas } from '../support/replicas.js';
import { redisIsBack, statusesOf, throughOutage } from './outage.js';

const lastsMs = scaled(2_500, 10_000);
const limit = scaled(20, 40);
/** So many accounts on the node that fails, and as many on others. */
const accountsEach = scaled(1, 3);
/** What happens to which node. With LODESTONE_FULL=1 one is frozen too; tests/cluster/redis-away-suite.ts always freezes a Redis. */
const outages: ['killed' | 'frozen', number][] = full
  ? [
      ['killed', 1],
      ['frozen', 2],
    ]
  : [['killed', 1]];

describe.skipIf(!clusterIsPossible)('a Redis cluster', () => {
  let cluster: TestCluster;
  let fleet: Replicas;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    // Long enough for a busy machine: what is promised of a node that answers is not to depend on it.
    fleet = await startReplicas({ redisUrls: cluster.urls, config: { storage: { redis_timeout: '500ms' } } });
    for (const replica of fleet.all) while (!(await redisIsBack(replica))) await pause(50);
  }, 240_000);
  afterAll(async () => {
    await fleet?.stop();
    await cluster?.stop();
  });

  /** How many of `count` requests over both are admitted. There is no reason for any other answer than these two. */
  async function admitted(key: string, count: number): Promise<number> {
    let served = 0;
    await inParallel(count, 8, async (index) => {
      const { status } = await fleet.all[index % 2]!.chat(ask(), { key });
      expect([200, 429]).toContain(status);
      if (status === 200) served++;
    });
    return served;
  }

  async function limitedAccount(): Promise<TestAccount> {
    const account = await fleet.a.createAccount();
    await fleet.a.admin('PATCH', `/accounts/${account.accountId}`, { limits: { requests_per_minute: limit } });
    return account;
  }

  it.each(outages)(
    'with a node %s: limits of other nodes are exact, its own are at most those of each replica',
    async (how, number) => {
      const node = cluster.nodes[number]!;
      const limited: TestAccount[] = [];
      const isOfNode = ({ accountId }: TestAccount) => cluster.nodeOf(`{${accountId}}`) === node;
      const isWanted = (account: TestAccount) =>
        limited.filter((each) => isOfNode(each) === isOfNode(account)).length < accountsEach;
      while (limited.length < 2 * accountsEach) {
        const account = await limitedAccount();
        if (isWanted(account)) limited.push(account);
      }
      const revoked = [await fleet.a.createAccount(), await fleet.a.createAccount(), await fleet.a.createAccount()];
      for (const account of revoked) expect(await statusesOf(fleet, account, ask())).toEqual([200, 200]);
      const passed = new Map<TestAccount, number>();
      const add = async (account: TestAccount, count: number) =>
        void passed.set(account, (passed.get(account) ?? 0) + (await admitted(account.key, count)));
      for (const account of limited) await add(account, 4);
      await throughOutage(fleet, {
        name: `a node ${how}`,
        lastsMs,
        begin: () => (how === 'killed' ? node.kill() : node.freeze()),
        end: () => (how === 'killed' ? node.restart() : node.thaw()),
        recovered: redisIsBack,
        async meanwhile() {
          for (const account of limited) await add(account, 2 * limit);
          for (const { accountId, keyId } of revoked) {
            expect((await fleet.b.admin('DELETE', `/accounts/${accountId}/keys/${keyId}`)).status).toBe(204);
          }
          for (const account of revoked) expect(await statusesOf(fleet, account, ask())).toEqual([401, 401]);
        },
      });
      for (const account of revoked) expect(await statusesOf(fleet, account, ask())).toEqual([401, 401]);
      for (const account of limited) {
        await add(account, limit);
        const total = passed.get(account)!;
        console.log(
          `a node ${how}: of a limit of ${limit} passed ${total}, ${isOfNode(account) ? 'on that node' : 'on another'}`,
        );
        expect(total).toBeGreaterThanOrEqual(limit);
        expect(total).toBeLessThanOrEqual(isOfNode(account) ? limit * fleet.all.length : limit);
      }
    },
    240_000,
  );
});
