/** A wait between two tries of background work. It does not keep the process alive and can be ended early. */
export class Pause {
  private wake: (() => void) | null = null;

  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = null;
  }

  end(): void {
    this.wake?.();
  }
}
