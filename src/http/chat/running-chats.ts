/**
 * Chat requests that are not over: one whose caller has left, or whose connection was cut at the end of the drain time, is still
 * counted and settled, on no connection at all. A stop waits for these, or they would be billed by a guess, or not at all.
 */
export class RunningChats {
  private count = 0;
  private readonly waiting: (() => void)[] = [];

  begin(): void {
    this.count++;
  }

  readonly end = (): void => {
    if (--this.count === 0) for (const resolve of this.waiting.splice(0)) resolve();
  };

  /** Resolves when none is left, or after `timeoutMs`. */
  over(timeoutMs: number): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
