/**
 * Shares the event loop among upstreams that send as fast as they can. libuv reads a full socket up to 32 times before the next
 * one, so a few hundred of them could delay every other client for seconds. Each turn of the event loop reads a bounded amount in
 * large reads; further sockets are read in later turns, in the order of arrival.
 */

/** Smaller reads are not counted. */
export const largeReadBytes = 8 * 1024;
const turnBytesMax = 64 * 1024;

/** Sockets that are read again in one turn. */
const resumedMax = 4;

export class ReadTurns {
  private bytes = 0;
  private resumed = 0;
  private readonly waiting: (() => void)[] = [];
  private scheduled = false;

  /** False where this turn has read enough: the socket must pause, and a later turn calls `resume`. */
  admits(length: number, resume: () => void): boolean {
    this.bytes += length;
    this.schedule();
    if (this.bytes < turnBytesMax) return true;
    this.waiting.push(resume);
    return false;
  }

  /** Resumes a socket that paused because its reader was behind: now, or after the sockets that already wait. */
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
