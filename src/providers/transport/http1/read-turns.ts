/**
 * Shares the event loop among upstreams that send as fast as they can. The system reads a full socket up to 32 times before it turns
 * to the next one, so a few hundred of them could keep every other caller waiting for seconds. A turn takes a bounded
 * amount of large reads; whoever comes after that is read again in a later turn, in the order of arrival.
 */

/** Smaller reads are no sign of a flood, and cost nothing here. */
export const largeReadBytes = 8 * 1024;
const turnBytesMax = 64 * 1024;

/** Sockets that are read again in one turn. */
const resumedMax = 4;

export class ReadTurns {
  private bytes = 0;
  private resumed = 0;
  private readonly waiting: (() => void)[] = [];
  private scheduled = false;

  /** False where this turn has read enough: the socket must pause, and `resume` is called in a later turn. */
  admits(length: number, resume: () => void): boolean {
    this.bytes += length;
    this.schedule();
    if (this.bytes < turnBytesMax) return true;
    this.waiting.push(resume);
    return false;
  }

  /** Reads on from a socket that paused because its reader was behind: now, or after those that wait already. */
  resume(resume: () => void): void {
    this.schedule();
    if (this.waiting.length > 0 || this.resumed >= resumedMax) {
      this.waiting.push(resume);
      return;
    }
    this.resumed++;
    resume();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.nextTurn());
  }

  private nextTurn(): void {
    this.scheduled = false;
    this.bytes = 0;
    const due = this.waiting.splice(0, resumedMax);
    this.resumed = due.length;
    for (const resume of due) resume();
    if (due.length > 0) this.schedule();
  }
}
