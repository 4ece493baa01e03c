/**
 * Where the processes of a fleet count what they hold of balances, budgets and caps: in Redis, or in the store while one of them cannot
 * reach Redis. No request is admitted in one place while another process still admits in the other, so that no limit is used twice:
 * each process says where it is, and asks nobody until all that live are in the same place. A process alone is one that waited in vain.
 */
import type { Logger } from '../../base/logger.js';
import type { SpendStore } from '../../storage/budget-types.js';
import { StoreUnavailable } from '../../storage/store.js';

export type Place = 'redis' | 'store' | 'alone';

interface SpendPlaceDeps {
  readonly store: Pick<SpendStore, 'join' | 'leave'>;
  readonly process: string;
  redisIsUp(): boolean;
  /** What this process holds is in the store afterwards, and nothing is asked of Redis any more. */
  enterStore(): Promise<void>;
  /** The same the other way. */
  enterRedis(): Promise<void>;
  /** All are in Redis again: what has ended meanwhile may be missing there. */
  catchUp(): Promise<void>;
  readonly logger: Logger;
}

/** How often a process says where it is, and looks where the others are: the first also keeps it among those that live. */
const calmMs = 1_000;
const awayMs = 100;
const movingMs = 15;
/** A request waits no longer than this for the other processes. */
const patienceMs = 2_000;

export class SpendPlace {
  private place: Place | null = null;
  private inStore = false;
  private deadline: NodeJS.Timeout | undefined;
  private waiting: ((place: Place) => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;
  private isClosed = false;

  constructor(private readonly deps: SpendPlaceDeps) {
    this.waitForOthers();
    void this.look();
  }

  /** null while the processes move. */
  get now(): Place | null {
    return this.place;
  }

  reached(): Promise<Place> {
    if (this.place !== null) return Promise.resolve(this.place);
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Redis is out of reach. */
  leaveRedis(): void {
    if (this.place === 'redis') this.move();
    void this.look();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.deadline);
    this.settle('alone');
    await this.deps.store.leave(this.deps.process).catch(() => {});
  }

  private async look(): Promise<void> {
    if (this.isLooking || this.isClosed) return;
    this.isLooking = true;
    clearTimeout(this.timer);
    try {
      await this.lookOnce();
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.deps.logger.error({ error }, 'where limits are counted is not known');
      // Without the store a fleet has only Redis, and without both each process is alone.
      this.inStore = false;
      this.settle(this.deps.redisIsUp() ? 'redis' : 'alone');
    }
    this.isLooking = false;
    if (this.isClosed) return;
    const pauseMs = this.place === null ? movingMs : this.place === 'redis' ? calmMs : awayMs;
    this.timer = setTimeout(() => void this.look(), pauseMs).unref();
  }

  private async lookOnce(): Promise<void> {
    const { enterStore, enterRedis } = this.deps;
    let { others, wanted } = await this.join();
    if (wanted !== this.inStore) {
      this.move();
      await (wanted ? enterStore() : enterRedis());
      this.inStore = wanted;
      ({ others, wanted } = await this.join());
    }
    if (wanted !== this.inStore) return;
    if (others.some(({ inStore }) => inStore !== this.inStore)) return;
    if (this.inStore) return this.settle('store');
    if (this.place !== 'redis') await this.deps.catchUp();
    // It may have gone again while the others were asked.
    if (this.deps.redisIsUp()) this.settle('redis');
  }

  private async join() {
    const { store, process, redisIsUp } = this.deps;
    const wantsStore = !redisIsUp();
    const others = await store.join({ process, wantsStore, inStore: this.inStore });
    return { others, wanted: wantsStore || others.some((other) => other.wantsStore) };
  }

  /** A process that is alone goes on alone until all are in one place. */
  private move(): void {
    if (this.place === null || this.place === 'alone') return;
    this.place = null;
    this.waitForOthers();
  }

  private waitForOthers(): void {
    clearTimeout(this.deadline);
    this.deadline = setTimeout(() => {
      if (this.place !== null) return;
      const place = !this.inStore && this.deps.redisIsUp() ? 'redis' : 'alone';
      this.deps.logger.warn(
        { place },
        'the other processes did not say in time where they count limits; going on without them',
      );
      this.settle(place);
    }, patienceMs).unref();
  }

  private settle(place: Place): void {
    clearTimeout(this.deadline);
    this.place = place;
    for (const resolve of this.waiting.splice(0)) resolve(place);
  }
}
