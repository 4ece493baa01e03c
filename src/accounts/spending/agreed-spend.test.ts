import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memorySpend } from '../../../tests/support/memory-budgets.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { OwnHold, RedisSpending, SpendAnswer, SpendAsk, SpendSubject } from '../../cluster/shared-spend.js';
import { AgreedSpend } from './agreed-spend.js';
import { MissedSpend } from './missed-spend.js';
import { hasRoom } from './spend-bounds.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const budget: SpendSubject = { name: 'budget', accountId: 'a', kind: 'account', id: 'a', fromMs: 0 };
const askOf = (estimatePico: bigint, limitPico: bigint): SpendAsk => ({
  limits: [{ subject: budget, limitPico }],
  estimatePico,
  atMs: 0,
});

/** One subject in a Redis that each process reaches or not. */
class OneSubject {
  /** null = not known. */
  spentPico: bigint | null = 0n;
  readonly held = new Map<string, { heldPico: bigint; requests: number }>();

  inFlight() {
    const all = [...this.held.values()];
    return {
      heldPico: all.reduce((sum, { heldPico }) => sum + heldPico, 0n),
      requests: all.reduce((sum, { requests }) => sum + requests, 0),
    };
  }
}

class FakeRedis implements RedisSpending {
  isUp = true;
  private asking = 0;
  private losses = 0;
  private own = { subject: budget, heldPico: 0n, requests: 0 };
  private missed: (subject: SpendSubject) => void = () => {};
  private away: (() => void)[] = [];

  constructor(
    readonly owner: string,
    private readonly shared: OneSubject,
    private readonly random: SeededRandom,
  ) {}

  get isAsking(): boolean {
    return this.asking > 0;
  }

  async take({ limits, estimatePico }: SpendAsk): Promise<SpendAnswer | null> {
    if (!this.isUp) return null;
    const { losses } = this;
    this.asking++;
    await pause(this.random.below(4));
    this.asking--;
    // Also where it is back already.
    if (losses !== this.losses) return null;
    const { spentPico } = this.shared;
    if (spentPico === null) return { kind: 'unknown', place: 0 };
    const inFlight = this.shared.inFlight();
    const refusal = { ...inFlight, kind: 'refused' as const, place: 0, spentPico, change: 0, unchangedMs: 0 };
    if (!hasRoom(limits[0]!.limitPico - spentPico, inFlight)) return refusal;
    this.count(estimatePico, 1);
    return { kind: 'held' };
  }
  note({ estimatePico }: SpendAsk): void {
    this.count(estimatePico, 1);
  }
  release(_: readonly SpendSubject[], estimatePico: bigint, costPico: bigint): void {
    this.count(-estimatePico, -1);
    if (this.isUp && this.shared.spentPico !== null) this.shared.spentPico += costPico;
    else if (this.isUp) this.missed(budget);
  }
  addCost(): void {}
  async setSpent(_: SpendSubject, spentPico: bigint, when: 'first' | 'least' | number): Promise<boolean> {
    const known = this.shared.spentPico;
    const counts = this.isUp && (known === null || (when === 'least' && spentPico > known));
    if (counts) this.shared.spentPico = spentPico;
    return counts;
  }
  async forget(): Promise<void> {
    if (this.isUp) this.shared.spentPico = null;
  }
  async inFlight() {
    return this.isUp ? this.shared.inFlight() : null;
  }
  onMissed(listener: (subject: SpendSubject) => void): void {
    this.missed = listener;
  }
  onAway(listener: () => void): void {
    this.away.push(listener);
  }
  heldOf(): OwnHold {
    return { ...this.own };
  }
  allHeld(): Iterable<OwnHold> {
    return [{ ...this.own }];
  }
  private catchUp(): void {
    if (this.isUp) this.shared.held.set(this.owner, { ...this.own });
    this.missed(budget);
  }
  lose(): void {
    this.isUp = false;
    this.losses++;
    for (const listener of this.away) listener();
  }
  comeBack(): void {
    this.isUp = true;
    this.catchUp();
  }
  private count(heldPico: bigint, requests: number): void {
    this.own.heldPico += heldPico;
    this.own.requests += requests;
    if (this.isUp) this.shared.held.set(this.owner, { ...this.own });
  }
}

/** Processes on one store and one Redis; a cost is in the store some time after it was known. */
function fleet(processes: number, random: SeededRandom) {
  const shared = new OneSubject();
  const later = () => pause(random.below(4));
  const store = memorySpend(async (read) => {
    await later();
    const value = read();
    await later();
    return value;
  });
  let settledPico = 0n;
  const spentOf = async () => {
    await later();
    const spent = settledPico;
    await later();
    return spent;
  };
  return Array.from({ length: processes }, (_, index) => {
    const redis = new FakeRedis(`p${index}`, shared, random);
    let unsettledPico = 0n;
    const settled = async () => {
      const costs = unsettledPico;
      unsettledPico = 0n;
      await later();
      settledPico += costs;
      await later();
    };
    const spend = new AgreedSpend({ redis, store, spentOf, settled, logger, pause });
    const readSpent = async () => {
      await settled();
      return spentOf();
    };
    const missed = new MissedSpend({ shared: spend, logger, readSpent });
    spend.onMissed((subject) => missed.doubt(subject));
    const take = async (ask: SpendAsk) => {
      for (;;) {
        await missed.certain(ask.limits);
        const answer = await spend.take(ask);
        if (answer?.kind !== 'unknown') return answer;
        await spend.setSpent(budget, await readSpent(), 'first');
      }
    };
    const end = (ask: SpendAsk, costPico: bigint) => {
      unsettledPico += costPico;
      spend.release([budget], ask.estimatePico, costPico);
      setTimeout(() => void settled(), random.below(250));
    };
    return { redis, spend, take, end };
  });
}

describe('a fleet that loses Redis in parts, again and again', () => {
  it.each(Array.from({ length: 12 }, (_, i) => i + 1))(
    'keeps a limit, and refuses nothing that is left (%i)',
    async (seed) => {
      const random = new SeededRandom(seed);
      const all = fleet(3, random);
      const limit = BigInt(200 + random.below(2_000));
      let spent = 0n;
      let isOver = false;
      let admittedAway = 0;
      let countedAlone = 0;
      const caller = async () => {
        while (!isOver) {
          const process = random.pick(all);
          const ask = askOf(BigInt(1 + random.below(30)), limit);
          const isAway = !process.spend.isInRedis;
          const answer = await process.take(ask);
          // The store always answers, so nobody has to count alone.
          if (answer === null) countedAlone++;
          if (answer?.kind === 'held') {
            if (isAway) admittedAway++;
            await pause(random.below(60));
            const cost = BigInt(random.below(Number(ask.estimatePico) + 1));
            spent += cost;
            process.end(ask, cost);
          }
          await pause(random.below(400));
        }
      };
      const calling = Array.from({ length: 8 }, caller);
      for (let turn = 0; turn < 2_500; turn++) {
        await pass(6);
        const { redis } = random.pick(all);
        if (!redis.isUp && random.chance(0.05)) redis.comeBack();
        else if (redis.isUp && random.chance(0.006)) redis.lose();
      }
      isOver = true;
      for (const { redis } of all) if (!redis.isUp) redis.comeBack();
      await pass(8_000);
      await Promise.all(calling);
      expect(countedAlone).toBe(0);
      expect(admittedAway).toBeGreaterThan(0);
      // Beside the last cost, one that another process had not settled when this one told Redis what the store has: for two seconds it may be
      // missing there.
      expect(spent, `of ${limit}`).toBeLessThan(limit + 2n * 30n);
      expect(all.map(({ spend }) => spend.isInRedis)).toEqual([true, true, true]);
      const taking = random.pick(all).take(askOf(1n, limit));
      await pass(2_000);
      const last = await taking;
      expect(last?.kind, `${spent} of ${limit}`).toBe(spent < limit ? 'held' : 'refused');
    },
  );
});
