/** How far the journal of this process is settled, as the settler tells, and who waits for it to be settled further. */
import { type Attachment, noProgress, type Progress, type RunPlace, type SettlerPort } from './settler-port.js';

interface Waiter {
  readonly isMet: (progress: Progress) => boolean;
  resolve(met: boolean): void;
}

export class SettledPosition {
  progress: Progress = noProgress;
  readonly #attachment: Attachment;
  #waiters: Waiter[] = [];
  /** Whether the store has what processes left that were gone before this one began. */
  #isReplayed = false;

  constructor(
    private readonly settler: SettlerPort,
    place: RunPlace,
    private readonly progressed: () => void,
  ) {
    this.#attachment = settler.attach(place, (progress) => this.#take(progress));
  }

  /** Whether everything before the position, and everything of earlier processes, is in the store in time. */
  async reaches(position: number, timeoutMs: number): Promise<boolean> {
    if (!this.#isReplayed) {
      const startedAt = performance.now();
      this.#isReplayed = await this.settler.replayed(timeoutMs);
      if (!this.#isReplayed) return false;
      return this.reaches(position, Math.max(1, timeoutMs - (performance.now() - startedAt)));
    }
    if (this.progress.settled >= position) return true;
    if (position !== Number.POSITIVE_INFINITY) this.#attachment.hurry(position);
    return this.#wait(({ settled }) => settled >= position, timeoutMs);
  }

  /** No record follows. Whether everything is in the store in time. */
  finishes(timeoutMs: number): Promise<boolean> {
    this.#attachment.end();
    return this.#wait(({ finished }) => finished, timeoutMs);
  }

  close(): void {
    this.#attachment.detach();
  }

  #wait(isMet: (progress: Progress) => boolean, timeoutMs: number): Promise<boolean> {
    if (isMet(this.progress)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.resolve(false), timeoutMs);
      const waiter: Waiter = {
        isMet,
        resolve: (met) => {
          clearTimeout(timer);
          this.#waiters = this.#waiters.filter((other) => other !== waiter);
          resolve(met);
        },
      };
      this.#waiters.push(waiter);
    });
  }

  #take(progress: Progress): void {
    this.progress = progress;
    this.progressed();
    for (const waiter of this.#waiters) if (waiter.isMet(progress)) waiter.resolve(true);
  }
}
