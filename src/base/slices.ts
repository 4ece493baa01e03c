/**
 * Cuts long work into slices, and gives the thread to requests after each of them. A slice is short where there is little else to do,
 * and grows with what the thread does in between, so that the work gets a fifth of a busy thread and comes to its end.
 *
 *     const slices = new Slices();
 *     for (const row of rows) {
 *       if (slices.isOver()) await slices.next();
 *       …
 *     }
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const shortestMs = 0.1;
/** A turn may have taken long for a reason that has nothing to do with requests, such as a collection of garbage. */
const longestMs = 0.7;
/** How long a slice is for each millisecond that others had. */
const share = 0.25;

export class Slices {
  #endsAt = performance.now() + shortestMs;

  isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Resolves in a later turn of the event loop, when everything that waited has been served once. */
  async next(): Promise<void> {
    const from = performance.now();
    await nextTurn();
    const now = performance.now();
    this.#endsAt = now + Math.min(Math.max((now - from) * share, shortestMs), longestMs);
  }
}
