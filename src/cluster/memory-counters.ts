/**
 * Counters of one process. Memory is bounded without a timer and without evicting a window that is still open: windows that
 * are over are dropped wholesale, and names beyond `namesMax` are counted in a sketch of fixed size (failure case F6).
 */
import type { Clock } from '../base/clock.js';
import { CountSketch } from './count-sketch.js';
import type { Counters, Reading, Take } from './counters.js';

export interface MemoryCountersOptions {
  windowMs?: number;
  /** New names a window that get a window of their own. Infinity where the names are bounded by something else. */
  namesMax?: number;
}

interface CounterWindow {
  readonly endsAtMs: number;
  readonly used: number;
  add(amount: number): void;
}

const unused: Reading = { used: 0, resetMs: 0 };

export class MemoryCounters implements Counters {
  private readonly windowMs: number;
  private readonly namesMax: number;
  /** Windows opened since the last turn, and before it. After two turns of a window's length each, a window is over. */
  private young = new Map<string, OwnWindow>();
  private old = new Map<string, OwnWindow>();
  /** The names that found `young` full. */
  private overflow: CountSketch | null = null;
  private turnsAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    { windowMs = 60_000, namesMax = Number.POSITIVE_INFINITY }: MemoryCountersOptions = {},
  ) {
    this.windowMs = windowMs;
    this.namesMax = namesMax;
  }

  take(name: string, amount: number, limit: number): Take {
    const nowMs = this.nowMs();
    const window = this.find(name, nowMs) ?? this.open(name, nowMs);
    const { used } = window;
    if (used !== 0 && used + amount > limit) return new MemoryTake(false, used, window.endsAtMs - nowMs, window);
    window.add(amount);
    return new MemoryTake(true, used + amount, window.endsAtMs - nowMs, window);
  }

  peek(name: string): Reading {
    const nowMs = this.nowMs();
    const window = this.find(name, nowMs);
    return window ? { used: window.used, resetMs: window.endsAtMs - nowMs } : unused;
  }

  /**
   * What shared state has said of a counter takes the place of what was held of it, so that counting can go on from there where
   * shared state is lost. `id` tells the counter's windows apart. Names beyond the bound are not remembered.
   */
  learn(name: string, used: number, resetMs: number, id: number): OwnWindow {
    const nowMs = this.nowMs();
    if (nowMs >= this.turnsAtMs) this.turn(nowMs);
    const held = this.young.get(name) ?? this.old.get(name);
    if (held?.id === id) {
      held.used = used;
      return held;
    }
    const window = new OwnWindow(nowMs + resetMs, id);
    window.used = used;
    if (this.young.size < this.namesMax || this.young.has(name)) this.young.set(name, window);
    return window;
  }

  /** How many windows are held, those that are over and not yet dropped included. */
  get size(): number {
    return this.young.size + this.old.size;
  }

  /** Whole milliseconds, so that a window's end is exact and a minute never rounds up to 61 seconds. */
  private nowMs(): number {
    return Math.floor(this.clock.monotonicMs());
  }

  private find(name: string, nowMs: number): CounterWindow | undefined {
    if (nowMs >= this.turnsAtMs) this.turn(nowMs);
    const window = this.young.get(name) ?? this.old.get(name);
    return window && nowMs < window.endsAtMs ? window : this.overflow?.windowOf(name);
  }

  private open(name: string, nowMs: number): CounterWindow {
    if (this.young.size >= this.namesMax) {
      this.overflow = new CountSketch(this.turnsAtMs);
      return this.overflow.windowOf(name);
    }
    const window = new OwnWindow(nowMs + this.windowMs);
    this.young.set(name, window);
    return window;
  }

  /** A take that is adjusted later holds its window itself, so what is dropped here is missed by nobody. */
  private turn(nowMs: number): void {
    this.old = nowMs < this.turnsAtMs + this.windowMs ? this.young : new Map();
    this.young = new Map();
    this.overflow = null;
    this.turnsAtMs = nowMs + this.windowMs;
  }
}

export class OwnWindow implements CounterWindow {
  used = 0;

  /** `id` is shared state's name for the window; 0 for one that was opened here. */
  constructor(
    readonly endsAtMs: number,
    readonly id = 0,
  ) {}

  add(amount: number): void {
    this.used += amount;
  }
}

class MemoryTake implements Take {
  constructor(
    readonly admitted: boolean,
    readonly used: number,
    readonly resetMs: number,
    private readonly window: CounterWindow,
  ) {}

  adjust(delta: number): void {
    this.window.add(delta);
  }
}
