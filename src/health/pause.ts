/** A wait between two tries of something in the background; it keeps no process alive and can be cut short. */
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
