/**
 * Lets callers share one read, but never one that began before they called: the result is at least as new as their call.
 * However many call, at most one read runs and one waits.
 */
export class SharedRead<T> {
  private running: Promise<T> | null = null;
  private next: Promise<T> | null = null;

  constructor(private readonly read: () => Promise<T>) {}

  get idle(): boolean {
    return this.running === null;
  }

  /** The read under way, or a new one: for callers that need no newer one. */
  join(): Promise<T> {
    return this.running ?? this.begin();
  }

  /** Resolves when no read runs or waits. */
  async settled(): Promise<void> {
    while (this.running ?? this.next) await Promise.allSettled([this.running, this.next]);
  }

  ask(): Promise<T> {
    if (!this.running) return this.begin();
    this.next ??= this.running.then(
      () => this.begin(),
      () => this.begin(),
    );
    return this.next;
  }

  private begin(): Promise<T> {
    this.next = null;
    const running = this.read();
    this.running = running;
    const ended = () => {
      if (this.running === running) this.running = null;
    };
    running.then(ended, ended);
    return running;
  }
}
