/**
 * Counters that all processes of a fleet share: exact while Redis answers, and counted by each process alone while it does
 * not, from the last known sum of each window. Keys expire with their windows, so nothing is left in Redis.
 */
import { createHash } from 'node:crypto';
import type { MaybePromise } from '../../base/maybe-promise.js';
import type { Clock } from '../../base/time.js';
import { MemoryCounters, type MemoryCountersOptions, type OwnWindow } from '../memory.js';
import type { Counters, Reading, Take } from '../ports.js';
import { patientWaitMs, type RedisLink, requestWaitMs } from './link.js';
import { adjustScript, restoreScript, takeScript } from './scripts.js';
import { TurnBatch } from './turn-batch.js';

/** Names that the processes choose are shorter. Longer ones come from outside and are stored by their hash. */
const nameLengthMax = 128;
/** Sums of such amounts stay far within Redis' 64 bits and are exact in Lua's numbers. */
const amountMax = 1e12;
/** Counters used while Redis was away that are restored when it is back. A flood of names is not restored in full. */
const countedAwayMax = 65_536;
/** The number of counters in one command. */
const restoredMax = 1_000;

interface TakeAsk {
  readonly name: string;
  readonly amount: number;
  readonly limit: number;
  readonly resolve: (take: Take) => void;
}

interface Adjustment {
  readonly take: RedisTake;
  readonly delta: number;
  readonly resolve: () => void;
}

export class RedisCounters implements Counters {
  readonly windowMs: number;
  /** What this process knows: the mirror that `peek` reads, and the counters while Redis is away. */
  private readonly local: MemoryCounters;
  private readonly keyPrefix: string;
  private readonly countedAway = new Set<string>();
  private readonly takes = new TurnBatch<TakeAsk>((asks) => void this.sendTakes(asks));
  private readonly adjustments = new TurnBatch<Adjustment>((asks) => void this.sendAdjustments(asks));

  constructor(
    private readonly link: RedisLink,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    family: string,
    { windowMs = 60_000, namesMax }: MemoryCountersOptions = {},
  ) {
    this.windowMs = windowMs;
    this.local = new MemoryCounters(clock, namesMax === undefined ? { windowMs } : { windowMs, namesMax });
    this.keyPrefix = `${link.prefix}c:${family}:`;
    // Before any take of this process can reach Redis again.
    link.onBack(() => this.restore());
  }

  take(name: string, amount: number, limit: number): MaybePromise<Take> {
    if (!this.link.up) return this.takeAway(name, amount, limit);
    return new Promise((resolve) => {
      this.takes.add({ name, amount, limit, resolve });
    });
  }

  peek(name: string): Reading {
    return this.local.peek(name);
  }

  /** The number of windows known here. */
  get size(): number {
    return this.local.size;
  }

  keyOf(name: string): string {
    return (
      this.keyPrefix + (name.length > nameLengthMax ? createHash('sha256').update(name).digest('base64url') : name)
    );
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
    if (!this.link.up) return this.noteAway(take.name);
    return new Promise((resolve) => {
      this.adjustments.add({ take, delta, resolve });
    });
  }

  private takeAway(name: string, amount: number, limit: number): Take {
    this.noteAway(name);
    return this.local.take(name, amount, limit);
  }

  private noteAway(name: string): void {
    if (this.countedAway.size < countedAwayMax) this.countedAway.add(name);
  }

  /**
   * Restores in Redis what was counted here while it was away, where that is more than Redis knows: with an outage in a
   * window, each process can use a limit at most once and not once more.
   */
  private restore(): void {
    const names = [...this.countedAway];
    this.countedAway.clear();
    for (let at = 0; at < names.length; at += restoredMax) void this.restoreSome(names.slice(at, at + restoredMax));
  }

  private async restoreSome(names: readonly string[]): Promise<void> {
    const keys: string[] = [];
    const figures: string[] = [];
    for (const name of names) {
      const { used, resetMs } = this.local.peek(name);
      if (used <= 0) continue;
      keys.push(this.keyOf(name));
      figures.push(wholeFigure(used), String(resetMs));
    }
    if (keys.length === 0) return;
    if ((await this.link.run(restoreScript, keys, figures, patientWaitMs)) !== null) return;
    for (const name of names) this.noteAway(name);
  }

  private async sendTakes(asks: readonly TakeAsk[]): Promise<void> {
    const keys: string[] = [];
    const figures = [String(this.windowMs)];
    for (const { name, amount, limit } of asks) {
      keys.push(this.keyOf(name));
      figures.push(wholeFigure(amount), String(limit));
    }
    const answer = await this.link.run<number[]>(takeScript, keys, figures, requestWaitMs);
    for (let i = 0; i < asks.length; i++) {
      const { name, amount, limit, resolve } = asks[i]!;
      if (answer === null) resolve(this.takeAway(name, amount, limit));
      else resolve(this.readTake(name, answer, 1 + 3 * i));
    }
  }

  /** Reads the three figures of a take at an index of the answer, which begins with Redis' time. */
  readTake(name: string, answer: readonly number[], at: number): Take {
    const used = answer[at + 1]!;
    const expiry = answer[at + 2]!;
    const resetMs = resetMsOf(answer[0]!, expiry);
    return new RedisTake(answer[at] === 1, used, resetMs, this, name, this.learn(name, used, resetMs, expiry));
  }

  private async sendAdjustments(asks: readonly Adjustment[]): Promise<void> {
    const keys: string[] = [];
    const figures: string[] = [];
    for (const { take, delta } of asks) {
      keys.push(this.keyOf(take.name));
      figures.push(String(take.window.id), wholeFigure(delta));
    }
    const sums = await this.link.run<(number | null)[]>(adjustScript, keys, figures, patientWaitMs);
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
  constructor(
    readonly admitted: boolean,
    readonly used: number,
    readonly resetMs: number,
    private readonly counters: RedisCounters,
    readonly name: string,
    readonly window: OwnWindow,
  ) {}

  adjust(delta: number): MaybePromise<void> {
    return this.counters.adjust(this, delta);
  }
}
