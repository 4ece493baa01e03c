/** What a fleet has spent and holds: in Redis, in the store while a process cannot reach Redis, and unknown where neither answers. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/logger.js';
import type { FleetSpend, RedisSpending, SpendAnswer, SpendAsk, SpendSubject } from '../../cluster/shared-spend.js';
import type { SpendStore } from '../../storage/budget-types.js';
import { StoreUnavailable } from '../../storage/store.js';
import { SpendPlace } from './spend-place.js';
import { subjectsOf } from './spend-subjects.js';
import { StoredSpend } from './stored-spend.js';

interface AgreedSpendDeps {
  readonly redis: RedisSpending;
  readonly store: SpendStore;
  spentOf(subject: SpendSubject): Promise<bigint>;
  settled(): Promise<unknown>;
  readonly logger: Logger;
  /** For tests. */
  pause?(ms: number): Promise<unknown>;
}

/** Redis is not lost again and again while one request asks. */
const attemptsMax = 4;

export class AgreedSpend implements FleetSpend {
  private readonly redis: RedisSpending;
  private readonly stored: StoredSpend;
  private readonly place: SpendPlace;
  private readonly pause: (ms: number) => Promise<unknown>;
  /** The subjects of requests that have ended while not all processes counted in Redis. */
  private readonly ended = new Map<string, SpendSubject>();

  constructor(private readonly deps: AgreedSpendDeps) {
    const { redis, store, logger } = deps;
    this.redis = redis;
    this.pause = deps.pause ?? ((ms) => wait(ms, undefined, { ref: false }));
    this.stored = new StoredSpend({
      ...{ store, process: redis.owner, spentOf: deps.spentOf, settled: deps.settled, pause: this.pause },
      heldOf: (subject) => redis.heldOf(subject),
      allHeld: () => redis.allHeld(),
      hold: (ask) => redis.note(ask),
      takeBack: ({ limits, estimatePico }) => redis.release(subjectsOf(limits), estimatePico, 0n),
    });
    this.place = new SpendPlace({
      ...{ store, process: redis.owner, logger },
      redisIsUp: () => redis.isUp,
      enterStore: () => this.enterStore(),
      enterRedis: () => this.enterRedis(),
      catchUp: () => this.catchUp(),
    });
    redis.onAway(() => this.place.leaveRedis());
  }

  get isInRedis(): boolean {
    return this.place.now === 'redis';
  }

  async take(ask: SpendAsk): Promise<SpendAnswer | null> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const place = this.place.now ?? (await this.place.reached());
      if (place === 'alone') return null;
      if (place === 'store') return this.stored.take(ask).catch(unreachable);
      const answer = await this.redis.take(ask);
      if (answer !== null) return answer;
      // The answer was lost with Redis, which may be back already.
    }
    return null;
  }

  note(ask: SpendAsk): void {
    this.redis.note(ask);
    this.countElsewhere(subjectsOf(ask.limits), 0n);
  }

  release(subjects: readonly SpendSubject[], estimatePico: bigint, costPico: bigint): void {
    this.redis.release(subjects, estimatePico, costPico);
    this.countElsewhere(subjects, costPico);
  }

  addCost(subject: SpendSubject, costPico: bigint): void {
    this.redis.addCost(subject, costPico);
    this.countElsewhere([subject], costPico);
  }

  setSpent(subject: SpendSubject, spentPico: bigint, when: 'first' | 'least' | number): Promise<boolean> {
    return this.redis.setSpent(subject, spentPico, when);
  }

  async inFlight(subject: SpendSubject): Promise<{ heldPico: bigint; requests: number } | null> {
    if (this.place.now !== 'store') return this.redis.inFlight(subject);
    const others = await this.stored.inFlight(subject).catch(unreachable);
    const own = this.redis.heldOf(subject);
    return others && { heldPico: others.heldPico + own.heldPico, requests: others.requests + own.requests };
  }

  onMissed(listener: (subject: SpendSubject) => void): void {
    this.redis.onMissed(listener);
  }

  onAway(listener: () => void): void {
    this.redis.onAway(listener);
  }

  close(): Promise<void> {
    return this.place.close();
  }

  private countElsewhere(subjects: readonly SpendSubject[], costPico: bigint): void {
    if (this.isInRedis) return;
    for (const subject of subjects) this.ended.set(subject.name, subject);
    this.stored.released(subjects, costPico);
  }

  private async enterStore(): Promise<void> {
    while (this.redis.isAsking) await this.pause(2);
    await this.stored.publish();
  }

  /** Whoever asks Redis next of what was counted here tells it what the store has, where every process has settled by then. */
  private async enterRedis(): Promise<void> {
    this.ended.clear();
    await this.redis.forget(await this.stored.end());
  }

  /** What has ended since this process left the store: it may have been told to Redis before that forgot. */
  private async catchUp(): Promise<void> {
    const ended = [...this.ended.values()];
    this.ended.clear();
    if (ended.length === 0) return;
    const { settled, spentOf } = this.deps;
    await settled();
    await Promise.all(ended.map(async (subject) => this.redis.setSpent(subject, await spentOf(subject), 'least')));
  }
}

function unreachable(error: unknown): null {
  if (error instanceof StoreUnavailable) return null;
  throw error;
}
