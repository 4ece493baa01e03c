/** The state of the log for everybody who asks, read from the store twice a second at most. */
import type { Clock } from '../base/time.js';
import type { LogState, LogStore } from '../storage/log-types.js';

const keptMs = 500;

export class RecentState {
  private known: { readonly state: Promise<LogState>; readonly atMs: number } | null = null;

  constructor(
    private readonly store: Pick<LogStore, 'state'>,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  async read(): Promise<LogState> {
    const nowMs = this.clock.monotonicMs();
    if (this.known === null || nowMs - this.known.atMs >= keptMs)
      this.known = { state: this.store.state(), atMs: nowMs };
    const asked = this.known;
    try {
      const state = await asked.state;
      // A log that has not begun may do so at any moment.
      if (state.checkpoint === null && this.known === asked) this.forget();
      return state;
    } catch (error) {
      if (this.known === asked) this.forget();
      throw error;
    }
  }

  forget(): void {
    this.known = null;
  }
}
