import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clusterIsPossible, startRedisCluster, type TestCluster } from '../../../tests/support/redis-cluster.js';
import { until, withinReach } from '../../../tests/support/redis-shared-state.js';
import { silentLogger } from '../../base/logger.js';
import { systemClock } from '../../base/time.js';
import type { AdmissionAsk } from '../ports.js';
import { openSharedState, type SharedState } from './open-shared-state.js';

const limit = 20;
/** Accounts enough that every node has some. */
const accounts = Array.from({ length: 12 }, (_, i) => `account-${i}`);

describe.skipIf(!clusterIsPossible)('a cluster of three nodes', () => {
  let cluster: TestCluster;
  let states: SharedState[];
  beforeAll(async () => {
    cluster = await startRedisCluster();
  }, 120_000);
  afterAll(() => cluster?.stop());
  beforeEach(async () => {
    const namespace = randomBytes(6).toString('hex');
    const options = { redisUrl: [cluster.urls[0]!], clock: systemClock, logger: silentLogger, namespace };
    states = [await openSharedState(options), await openSharedState(options)];
    for (const { link } of states) await until(() => link.up);
  });
  afterEach(async () => {
    for (const node of cluster.nodes) {
      node.thaw();
      if (node.pid === null) await node.restart();
    }
    await Promise.all(states.map((state) => state.close()));
    await cluster.settled();
  }, 120_000);

  const askOf = (accountId: string, peer: AdmissionAsk['peer'] = null): AdmissionAsk => ({
    peer,
    key: { id: `key-of-${accountId}`, accountId, limit, chat: null },
  });
  /** How many of `count` requests over both processes are admitted; null where one was not answered. */
  async function admitted(accountId: string, count: number): Promise<number | null> {
    const asks = Array.from({ length: count }, (_, i) => states[i % 2]!.admission.ask(askOf(accountId)));
    const answers = await Promise.all(asks);
    if (answers.includes(null)) return null;
    return answers.filter((answer) => answer!.request!.admitted).length;
  }
  const nodeOfAccount = (accountId: string) =>
    cluster.nodeOf(states[0]!.counters('requests').keyOf(`key-of-${accountId}`, accountId));

  it('counts each key exactly over all processes, wherever its account is', async () => {
    expect(new Set(accounts.map(nodeOfAccount)).size).toBe(3);
    await withinReach(states, async (attempt) => {
      const counts = await Promise.all(accounts.map((id) => admitted(`${id}-${attempt}`, 30)));
      expect(counts).toEqual(accounts.map(() => limit));
    });
  });

  it('shows a raised version of a key, an account and the catalogue to the next request of another process', async () => {
    await withinReach(states, async () => {
      for (const id of accounts) {
        const key = `key:key-of-${id}@${id}` as const;
        const before = await states[0]!.versions.current([key, `account:${id}`]);
        const [states0, catalogue0] = (await states[0]!.versions.current(['states', 'catalogue']))!;
        const first = await states[1]!.admission.ask(askOf(id));
        expect([first?.keyVersion, first?.accountVersion]).toEqual(before);
        expect([first?.statesVersion, first?.catalogueVersion]).toEqual([states0, catalogue0]);
        await states[0]!.versions.raise([key, `account:${id}`, 'catalogue']);
        const next = await states[1]!.admission.ask(askOf(id));
        expect(next!.statesVersion).toBe(states0);
        for (const [now, then] of [
          [next!.keyVersion, first!.keyVersion],
          [next!.accountVersion, first!.accountVersion],
          [next!.catalogueVersion, catalogue0],
        ])
          expect(now).not.toBe(then);
      }
    });
  });

  it('gives back what a request of a refused address took of its key', async () => {
    await withinReach(states, async (attempt) => {
      const id = `account-of-address-${attempt}`;
      const peer = { name: `203.0.113.${attempt}`, limit: 3 };
      const limits = [
        {
          subject: { name: `{${id}}:account`, accountId: id, kind: 'balance' as const, id: 'a', fromMs: 0 },
          limitPico: 10n,
        },
      ];
      await states[0]!.spend.setSpent(limits[0]!.subject, 0n, 'first');
      const [keyVersion, accountVersion] = (await states[0]!.versions.current([
        `key:key-of-${id}@${id}`,
        `account:${id}`,
      ]))!;
      const chat = {
        keyVersion: keyVersion!,
        accountVersion: accountVersion!,
        tokens: 7,
        tokenLimit: 1_000,
        spend: { limits, estimatePico: 1n, atMs: 0 },
      };
      const { key } = askOf(id);
      const ask = { peer, key: { ...key!, chat } };
      const answers = [];
      for (let i = 0; i < 5; i++) answers.push(await states[i % 2]!.admission.ask(ask));
      expect(answers.map((answer) => answer!.peer!.admitted)).toEqual([true, true, true, false, false]);
      expect(answers.map((answer) => answer!.request?.used ?? null)).toEqual([1, 2, 3, null, null]);
      expect(answers[2]!.chat).toMatchObject({ tokens: { used: 21 }, spend: { kind: 'held' } });
      await until(() => true);
      const after = await states[0]!.admission.ask({ peer: null, key: { ...key!, chat } });
      expect([after!.request!.used, after!.chat!.tokens.used]).toEqual([4, 28]);
      expect(await states[1]!.spend.inFlight(limits[0]!.subject)).toEqual({ heldPico: 4n, requests: 4 });
    });
  });

  it.each(['killed', 'frozen'] as const)(
    'with one node %s, only its accounts are out of reach, and the others are counted exactly',
    async (how) => {
      const away = cluster.nodes[1]!;
      const [its, others] = [
        accounts.filter((id) => nodeOfAccount(id) === away),
        accounts.filter((id) => nodeOfAccount(id) !== away),
      ];
      for (const id of accounts) expect(await admitted(id, 10)).toBe(10);
      if (how === 'killed') await away.kill();
      else away.freeze();
      await until(() => states.every(({ link }) => !link.up));
      // Counted by each process alone, from where the shared count stood.
      for (const id of its) {
        expect(await states[0]!.admission.ask(askOf(id))).toBeNull();
        const takes = await Promise.all(
          Array.from({ length: 20 }, () => states[0]!.counters('requests').take(`key-of-${id}`, 1, limit, id)),
        );
        const passed = takes.filter((take) => take.admitted).length;
        expect(passed).toBeLessThanOrEqual(limit - 5);
      }
      const counts = await Promise.all(others.map((id) => admitted(id, 30)));
      expect(counts.filter((count) => count !== null && count !== limit - 10)).toEqual([]);
      expect(counts.filter((count) => count !== null).length).toBeGreaterThan(0);
      if (how === 'killed') await away.restart();
      else away.thaw();
      await until(() => states.every(({ link }) => link.up));
      // What was counted meanwhile is restored, also in a node that came back empty.
      for (const id of its) {
        const answer = await withinReach(states, () => states[1]!.admission.ask(askOf(id)));
        expect(answer!.request!.used).toBeGreaterThanOrEqual(limit - 1);
      }
    },
    120_000,
  );

  it('raises a version of a node that was away before that node is used again', async () => {
    const away = cluster.nodes[2]!;
    const id = accounts.find((each) => nodeOfAccount(each) === away)!;
    const subject = `account:${id}` as const;
    const [before] = (await withinReach(states, () => states[1]!.versions.current([subject])))!;
    away.freeze();
    await until(() => states.every(({ link }) => !link.up));
    await states[0]!.versions.raise([subject]);
    away.thaw();
    await until(() => states.every(({ link }) => link.up));
    await withinReach(states, async () => {
      const [after] = (await states[1]!.versions.current([subject]))!;
      expect(after).not.toBe(before);
    });
  }, 120_000);
});

it('with no node in reach, the shared state starts as away', async () => {
  const state = await openSharedState({
    redisUrl: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'],
    clock: systemClock,
    logger: silentLogger,
  });
  expect([
    state.up,
    await state.admission.ask({ peer: null, key: { id: 'k', accountId: 'a', limit: 1, chat: null } }),
  ]).toEqual([false, null]);
  await state.close();
});
