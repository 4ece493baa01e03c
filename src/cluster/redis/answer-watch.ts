/**
 * Tracks the unanswered requests to Redis and reports when an answer is overdue. One timer watches the earliest deadline, so
 * a request needs no timer of its own, and a busy event loop is never mistaken for a silent Redis.
 */
import { type Member, MemberList } from '../../base/collections.js';

/** A timer later than this shows that the process, or the whole machine and Redis with it, is short of processor time. */
const lateMsMax = 5;

export interface Ask extends Member {
  readonly resolve: (answer: unknown) => void;
  readonly waitMs: number;
  dueMs: number;
  /** Whether the wait was extended once, because this process was too busy to see an answer in time. */
  granted: boolean;
}

export class AnswerWatch {
  private readonly open = new MemberList<Ask>();
  private timer: NodeJS.Timeout | null = null;
  private timerDueMs = Number.POSITIVE_INFINITY;

  /** `overdue` gets the time that was waited in vain, and must drop what is open. */
  constructor(private readonly overdue: (waitMs: number) => void) {}

  add(resolve: (answer: unknown) => void, waitMs: number): Ask {
    const ask = { resolve, waitMs, dueMs: performance.now() + waitMs, granted: false, index: -1 };
    this.open.add(ask);
    if (ask.dueMs < this.timerDueMs) this.arm(ask.dueMs);
    return ask;
  }

  /** False for an answer that comes too late: its caller has gone on without it. */
  answered(ask: Ask): boolean {
    const isOpen = ask.index !== -1;
    this.open.delete(ask);
    return isOpen;
  }

  /** Drops everything that is open; it will not be answered. */
  drop(): void {
    const dropped = this.open.all();
    for (const ask of dropped) this.open.delete(ask);
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

  /** The answer may have arrived but not been read: sockets are read between a timer and the next immediate. */
  private look(): void {
    const lateMs = performance.now() - this.timerDueMs;
    this.disarm();
    setImmediate(() => this.judge(lateMs));
  }

  private judge(lateMs: number): void {
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const ask of this.open.all()) {
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
