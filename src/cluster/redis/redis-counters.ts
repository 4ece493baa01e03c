/**
 * Counters that all processes of a fleet share: exact while Redis answers, and counted by each process alone while it does
 * not, from the last known sum of each window. Keys expire with their windows, so nothing is left in Redis.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import type { MaybePromise } from '../../base/turn.js';
import { MemoryCounters, type MemoryCountersOptions, type OwnWindow } from '../memory.js';
import type { Counters, Reading, Take } from '../ports.js';
import { adjustScript, restoreScript, takeScript } from './scripts.js';
import { inParts, type Keyed, type SharedLink, type SharedNode } from './shared-link.js';
import { TurnBatch } from './turn-batch.js';

/** Names that the processes choose are shorter. Longer ones come from outside and are stored by their hash. */
const nameLengthMax = 128;
/** Sums of such amounts stay far within Redis' 64 bits and are exact in Lua's numbers. */
const amountMax = 1e12;
/** Counters used while Redis was away that are restored when it is back. A flood of names is not restored in full. */
const countedAwayMax = 65_536;
/** The number of counters in one command. */
const restoredMax = 1_000;

interface NamedKey extends Keyed {
  readonly name: string;
}

interface TakeAsk extends NamedKey {
  readonly amount: number;
  readonly limit: number;
  readonly resolve: (take: Take) => void;
}

interface Adjustment extends Keyed {
  readonly take: RedisTake;
  readonly delta: number;
  readonly resolve: () => void;
}

export class RedisCounters implements Counters {
  readonly windowMs: number;
  /** What this process knows: the mirror that `peek` reads, and the counters while Redis is away. */
  private readonly local: MemoryCounters;
  private readonly keyPrefix: string;
  /** The keys of counters that were used while Redis was away, by their names. */
  private readonly countedAway = new Map<string, string>();
  private readonly takes: TurnBatch<TakeAsk>;
  private readonly adjustments: TurnBatch<Adjustment>;

  constructor(
    private readonly link: SharedLink,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    family: string,
    { windowMs = 60_000, namesMax }: MemoryCountersOptions = {},
  ) {
    this.windowMs = windowMs;
    this.local = new MemoryCounters(clock, namesMax === undefined ? { windowMs } : { windowMs, namesMax });
    this.keyPrefix = `${link.prefix}c:${family}:`;
    this.takes = new TurnBatch(link, (asks) => this.sendTakes(asks));
    this.adjustments = new TurnBatch(link, (asks) => this.sendAdjustments(asks), 'releases');
    // Before any take of this process can reach Redis again.
    link.onBack((node) => this.restore(node));
  }

  take(name: string, amount: number, limit: number, owner?: string): MaybePromise<Take> {
    const key = this.keyOf(name, owner);
    if (!this.link.isUp(key)) return this.takeAway(name, key, amount, limit);
    return new Promise((resolve) => {
      this.takes.add({ name, key, amount, limit, resolve });
    });
  }

  peek(name: string): Reading {
    return this.local.peek(name);
  }

  /** The number of windows known here. */
  get size(): number {
    return this.local.size;
  }

  /** `owner` is the account whose counters a command may use together. */
  keyOf(name: string, owner?: string): string {
    const tag = owner === undefined ? '' : this.link.tagOf(owner);
    if (name.length <= nameLengthMax) return this.keyPrefix + tag + name;
    return this.keyPrefix + tag + createHash('sha256').update(name).digest('base64url');
  }

  /** Stores what Redis answered: the window's sum, its remaining time, and its expiry, which identifies it. */
  learn(name: string, used: number, resetMs: number, expiry: number): OwnWindow {
    return this.local.learn(name, used, resetMs, expiry);
  }

  adjust(take: RedisTake, delta: number): MaybePromise<void> {
    // The headers of the same response show this usage, so the mirror does not wait for Redis.
    take.window.add(Number(wholeFigure(delta)));
    // A window that has ended here has ended in Redis, which knew of it first.
    if (this.clock.monotonicMs() >= take.window.endsAtMs) return;
    if (!this.link.isUp(take.key)) return this.noteAway(take.name, take.key);
    return new Promise((resolve) => {
      this.adjustments.add({ key: take.key, take, delta, resolve });
    });
  }

  private takeAway(name: string, key: string, amount: number, limit: number): Take {
    this.noteAway(name, key);
    return this.local.take(name, amount, limit);
  }

  private noteAway(name: string, key: string): void {
    if (this.countedAway.size < countedAwayMax) this.countedAway.set(name, key);
  }

  /**
   * Restores in Redis what was counted here while it was away, where that is more than Redis knows: with an outage in a
   * window, each process can use a limit at most once and not once more.
   */
  private restore(node: SharedNode): void {
    const counted: NamedKey[] = [];
    for (const [name, key] of this.countedAway) if (node.covers(key)) counted.push({ name, key });
    for (const { name } of counted) this.countedAway.delete(name);
    for (const some of inParts(this.link, counted, restoredMax)) void this.restoreSome(some);
  }

  private async restoreSome(counted: readonly NamedKey[]): Promise<void> {
    const keys: string[] = [];
    const figures: string[] = [];
    for (const { name, key } of counted) {
      const { used, resetMs } = this.local.peek(name);
      if (used <= 0) continue;
      keys.push(key);
      figures.push(wholeFigure(used), String(resetMs));
    }
    if (keys.length === 0) return;
    if ((await this.link.run(restoreScript, keys, figures)) !== null) return;
    for (const { name, key } of counted) this.noteAway(name, key);
  }

  private async sendTakes(asks: readonly TakeAsk[]): Promise<void> {
    const keys: string[] = [];
    const figures = [String(this.windowMs)];
    for (const { key, amount, limit } of asks) {
      keys.push(key);
      figures.push(wholeFigure(amount), String(limit));
    }
    const answer = await this.link.run<number[]>(takeScript, keys, figures, this.link.requestWaitMs);
    for (let i = 0; i < asks.length; i++) {
      const { name, key, amount, limit, resolve } = asks[i]!;
      if (answer === null) resolve(this.takeAway(name, key, amount, limit));
      else resolve(this.readTake(name, key, answer, 1 + 3 * i));
    }
  }

  /** Reads the three figures of a take at an index of the answer, which begins with Redis' time. */
  readTake(name: string, key: string, answer: readonly number[], at: number): Take {
    const used = answer[at + 1]!;
    const expiry = answer[at + 2]!;
    const resetMs = resetMsOf(answer[0]!, expiry);
    const window = this.learn(name, used, resetMs, expiry);
    return new RedisTake({ admitted: answer[at] === 1, used, resetMs }, this, { name, key }, window);
  }

  private async sendAdjustments(asks: readonly Adjustment[]): Promise<void> {
    const keys: string[] = [];
    const figures: string[] = [];
    for (const { key, take, delta } of asks) {
      keys.push(key);
      figures.push(String(take.window.id), wholeFigure(delta));
    }
    const sums = await this.link.run<(number | null)[]>(adjustScript, keys, figures);
    for (let i = 0; i < asks.length; i++) {
      const { take, resolve } = asks[i]!;
      const sum = sums?.[i] ?? null;
      if (sum !== null) take.window.used = sum;
      resolve();
    }
  }
}

/** Redis adds up whole numbers only, and an invalid figure must not fail the others in its command. */
export function wholeFigure(amount: number): string {
  return String(Math.max(-amountMax, Math.min(amountMax, Math.ceil(amount) || 0)));
}

/** A key is gone in the millisecond after its expiry. */
export function resetMsOf(nowMs: number, expiry: number): number {
  return Math.max(1, expiry + 1 - nowMs);
}

class RedisTake implements Take {
  readonly admitted: boolean;
  readonly used: number;
  readonly resetMs: number;
  readonly name: string;
  readonly key: string;

  constructor(
    { admitted, used, resetMs }: Reading & { admitted: boolean },
    private readonly counters: RedisCounters,
    { name, key }: NamedKey,
    readonly window: OwnWindow,
  ) {
    this.admitted = admitted;
    this.used = used;
    this.resetMs = resetMs;
    this.name = name;
    this.key = key;
  }

  adjust(delta: number): MaybePromise<void> {
    return this.counters.adjust(this, delta);
  }
}
