/**
 * Counters within one process. Memory is bounded without a timer and without evicting an open window: expired windows are
 * dropped together, and names beyond `namesMax` are counted in a sketch of fixed size.
 */

import { randomFillSync } from 'node:crypto';
import type { Clock } from '../base/time.js';
import type { Bucket, Buckets, Counters, Reading, Take } from './ports.js';

export interface MemoryCountersOptions {
  windowMs?: number;
  /** How many new names in a window get a counter of their own. Infinity where something else bounds the names. */
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
  /**
   * Windows opened since the last turnover and before it. After two turnovers, each a window's length apart, a window has
   * expired.
   */
  private young = new Map<string, OwnWindow>();
  private old = new Map<string, OwnWindow>();
  /** Counts the names that found `young` full. */
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
   * Replaces what is held of a counter by what the shared state answered, so that counting can go on from there if the shared
   * state is lost. `id` distinguishes the counter's windows. Names beyond the bound are not remembered.
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

  /** The number of windows held, including expired ones that are not dropped yet. */
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

  /** A take that is adjusted later keeps its own window, so dropping a window here loses nothing. */
  private turn(nowMs: number): void {
    this.old = nowMs < this.turnsAtMs + this.windowMs ? this.young : new Map();
    this.young = new Map();
    this.overflow = null;
    this.turnsAtMs = nowMs + this.windowMs;
  }
}

export class OwnWindow implements CounterWindow {
  used = 0;

  /** `id` is the shared state's name for the window; 0 for one that was opened here. */
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

const rows = 4;
/** With 300,000 names a cell is shared by one or two of them, so all four cells of a name are almost never busy. */
const columns = 2 ** 18;
/** Peers, the names that come in floods, have at most this many characters. */
const hashedCharacters = 24;
const tableLength = hashedCharacters * 256;

/**
 * Counts any number of names in a fixed amount of memory (a count-min sketch). A name's count is never too low, so a flood of
 * names frees nobody. It is too high only where a name shares all of its cells with busy names, which random hashing makes
 * rare.
 */
class CountSketch {
  /** 8 MiB; doubles, because sums of tokens exceed 32 bits. */
  private readonly cells = new Float64Array(rows * columns);
  /**
   * Two tables of random words, one word for each character at each position. Callers cannot see them, so nobody can choose
   * names that share their cells with a victim's.
   */
  private readonly words = randomFillSync(new Uint32Array(2 * tableLength));

  /** All names share one window. */
  constructor(readonly endsAtMs: number) {}

  windowOf(name: string): SketchWindow {
    let first = 0;
    let step = 0;
    for (let at = 0; at < name.length; at++) {
      const word = (at % hashedCharacters) * 256 + (name.charCodeAt(at) & 255);
      first ^= this.words[word]!;
      step ^= this.words[tableLength + word]!;
    }
    return new SketchWindow(this.endsAtMs, this.cells, first, step | 1);
  }
}

/** The cells of one name: one in each row. */
class SketchWindow {
  constructor(
    readonly endsAtMs: number,
    private readonly cells: Float64Array,
    private readonly first: number,
    private readonly step: number,
  ) {}

  get used(): number {
    let least = Number.POSITIVE_INFINITY;
    for (let row = 0; row < rows; row++) least = Math.min(least, this.cells[this.cellOf(row)]!);
    return least;
  }

  add(amount: number): void {
    for (let row = 0; row < rows; row++) this.cells[this.cellOf(row)]! += amount;
  }

  private cellOf(row: number): number {
    return row * columns + ((this.first + Math.imul(row, this.step)) & (columns - 1));
  }
}

interface Level {
  left: number;
  atMs: number;
}

/** Beyond this number, the bucket that was used longest ago is dropped: it is the likeliest to be full again. */
const levelsMax = 50_000;

/** Buckets within one process, in bounded memory. */
export class MemoryBuckets implements Buckets {
  private readonly levels = new Map<string, Level>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  take(buckets: readonly Bucket[]): number {
    const nowMs = this.clock.monotonicMs();
    const waitMs = Math.max(...buckets.map((bucket) => waitOf(bucket, this.levelOf(bucket, nowMs))));
    if (waitMs === 0) for (const bucket of buckets) this.lower(bucket, nowMs, 1);
    return waitMs;
  }

  giveBack(buckets: readonly Bucket[]): void {
    const nowMs = this.clock.monotonicMs();
    for (const bucket of buckets) this.lower(bucket, nowMs, -1);
  }

  /** The number of buckets held. */
  get size(): number {
    return this.levels.size;
  }

  private lower(bucket: Bucket, nowMs: number, by: number): void {
    const { left } = this.levelOf(bucket, nowMs);
    this.levels.delete(bucket.name);
    this.levels.set(bucket.name, { left: Math.min(bucket.capacity, left - by), atMs: nowMs });
    if (this.levels.size > levelsMax) this.levels.delete(this.levels.keys().next().value!);
  }

  private levelOf({ name, capacity, refillMs }: Bucket, nowMs: number): Level {
    const level = this.levels.get(name);
    if (!level) return { left: capacity, atMs: nowMs };
    return { left: Math.min(capacity, level.left + (nowMs - level.atMs) / refillMs), atMs: nowMs };
  }
}

function waitOf({ refillMs }: Bucket, { left }: Level): number {
  return left >= 1 ? 0 : (1 - left) * refillMs;
}
