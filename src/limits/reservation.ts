/** Tokens held for a request from its admission until its usage is known (ruling 11). */
import type { Take } from '../cluster/counters.js';

/**
 * Settled once, by whichever call comes first; later ones do nothing. What is never settled ends with its window, so nothing
 * leaks for longer than a minute (failure case F3). Both touch only the window that admitted the request.
 */
export interface Reservation {
  /** The answer used this many tokens, prompt and completion: more or fewer than were held. */
  correct(tokens: number): void;
  /** Nothing was delivered: everything that was held is given back. */
  cancel(): void;
}

export class TokenReservation implements Reservation {
  private settled = false;

  constructor(
    private readonly take: Take,
    private readonly held: number,
  ) {}

  correct(tokens: number): void {
    // A figure that is none would spoil the sum; the estimate then stands.
    this.settle(Number.isFinite(tokens) && tokens >= 0 ? tokens : this.held);
  }

  cancel(): void {
    this.settle(0);
  }

  private settle(tokens: number): void {
    if (this.settled) return;
    this.settled = true;
    if (tokens !== this.held) void this.take.adjust(tokens - this.held);
  }
}
