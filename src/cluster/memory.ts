/**
 * Counters of one process. Memory is bounded without a timer and without evicting a window that is still open: windows that
 * are over are dropped wholesale, and names beyond `namesMax` are counted in a sketch of fixed size.
 */

import { randomFillSync } from 'node:crypto';
import type { Clock } from '../base/time.js';
import type { Bucket, Buckets, Counters, Reading, Take } from './ports.js';

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

// * Counts any number of names in a fixed piece of memory (a count-min sketch). A name's count is never too low, so a flood of
// names frees nobody; it is too high only where every cell of a name is shared with busy ones, which random hashing makes rare.

const rows = 4;
/** With 300,000 names a cell is shared by one or two of them, so that all four of a name's cells are busy nearly never. */
const columns = 2 ** 18;
/** Peers, the names that come in floods, have at most this many characters. */
const hashedCharacters = 24;
const tableLength = hashedCharacters * 256;

export class CountSketch {
  /** 8 MiB; doubles, because sums of tokens outgrow 32 bits. */
  private readonly cells = new Float64Array(rows * columns);
  /**
   * Two tables of random words, one word for each character at each place. Whoever chooses the names cannot see them, so
   * names that share their cells with a victim's cannot be chosen either.
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

/** One name's cells: one in each row. */
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

// Buckets of one process, bounded whoever asks.

interface Level {
  left: number;
  atMs: number;
}

/** When there are more, the one that was touched longest ago is forgotten: it is the likeliest to be full again. */
const levelsMax = 50_000;

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

  /** How many are held. */
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
