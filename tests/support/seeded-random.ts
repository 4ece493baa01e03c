/** Random values that are the same in every run: a failing property test names its seed and can be run again. */
import { scaled } from './scaled.js';

export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, not including, 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer from 0 up to, not including, `below`. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Up to `max` picked items, joined. */
  textOf(items: readonly string[], max: number): string {
    let text = '';
    for (let left = this.below(max + 1); left > 0; left--) text += this.pick(items);
    return text;
  }

  /** Cuts bytes anywhere, also into empty pieces. */
  cuts(bytes: Buffer, pieceMax = 9): Buffer[] {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = this.below(pieceMax + 1);
      pieces.push(bytes.subarray(at, at + length));
      at += length;
    }
    return pieces;
  }
}

/** Fewer seeds than this are never scaled down. */
const seedsMin = 60;
/** More than this are run with LODESTONE_FULL=1 alone. */
const seedsMax = 500;

/** Runs a property for many seeds, a quarter of them unless LODESTONE_FULL is set; the failing one is in the error's message. */
export function forSeeds(count: number, property: (random: SeededRandom, seed: number) => void): void {
  const seeds = scaled(Math.min(count, Math.max(seedsMin, Math.min(seedsMax, Math.ceil(count / 4)))), count);
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      property(new SeededRandom(seed), seed);
    } catch (error) {
      if (error instanceof Error) error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}
