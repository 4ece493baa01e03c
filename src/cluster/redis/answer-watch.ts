/**
 * Knows what has been asked of Redis and not been answered, and says when an answer is overdue. One timer watches whatever is due
 * first, so an ask costs no timer of its own; and a busy event loop of ours is never taken for a silent Redis.
 */

/** A timer that is later than this says that the process, or the whole machine and Redis with it, is short of processor time. */
const lateMsMax = 5;

export interface Ask {
  readonly resolve: (answer: unknown) => void;
  readonly waitMs: number;
  dueMs: number;
  /** Whether it has got its wait a second time, because this process was too busy to see an answer in the first. */
  granted: boolean;
}

export class AnswerWatch {
  private readonly open = new Set<Ask>();
  private timer: NodeJS.Timeout | null = null;
  private timerDueMs = Number.POSITIVE_INFINITY;

  /** `overdue` is told how long has been waited in vain, and has to drop what is open. */
  constructor(private readonly overdue: (waitMs: number) => void) {}

  add(resolve: (answer: unknown) => void, waitMs: number): Ask {
    const ask = { resolve, waitMs, dueMs: performance.now() + waitMs, granted: false };
    this.open.add(ask);
    if (ask.dueMs < this.timerDueMs) this.arm(ask.dueMs);
    return ask;
  }

  /** False for an answer that comes too late: somebody has gone on without it. */
  answered(ask: Ask): boolean {
    return this.open.delete(ask);
  }

  /** Nothing that is open will be answered any more. */
  drop(): void {
    const dropped = [...this.open];
    this.open.clear();
    this.disarm();
    for (const ask of dropped) ask.resolve(null);
  }

  private arm(dueMs: number): void {
    if (this.timer) clearTimeout(this.timer);
    this.timerDueMs = dueMs;
    this.timer = setTimeout(() => this.look(), Math.max(0, Math.ceil(dueMs - performance.now())));
  }

  private disarm(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.timerDueMs = Number.POSITIVE_INFINITY;
  }

  /** The answer may have arrived and not been read: sockets are read between a timer and the next immediate. */
  private look(): void {
    const lateMs = performance.now() - this.timerDueMs;
    this.disarm();
    setImmediate(() => this.judge(lateMs));
  }

  private judge(lateMs: number): void {
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const ask of this.open) {
      if (ask.dueMs <= nowMs) {
        if (ask.granted || lateMs <= lateMsMax) {
          this.overdue(ask.waitMs);
          return;
        }
        ask.granted = true;
        ask.dueMs = nowMs + ask.waitMs;
      }
      if (ask.dueMs < nextMs) nextMs = ask.dueMs;
    }
    if (nextMs < this.timerDueMs) this.arm(nextMs);
  }
}
