/** One upstream call under a manual clock: the test plays the upstream, event by event, and the caller's speed. */
import { vi } from 'vitest';
import { type Budgets, Call } from '../../src/providers/call.js';
import type { CallResult } from '../../src/providers/call-result.js';
import type { FrameConsumer, FrameVerdict } from '../../src/providers/frame-consumer.js';
import { Deadlines, tickMs } from '../../src/providers/transport/deadlines.js';
import type {
  Transport,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from '../../src/providers/transport/transport.js';
import { ManualClock } from './manual-clock.js';
import { smallSnapshot } from './snapshot.js';

/** The default time budgets. */
const specifiedBudgets: Budgets = {
  firstByteMs: 30_000,
  idleMs: 90_000,
  overallMs: 300_000,
  overallNamedMs: 300_000,
};

class PlayedTransport implements Transport {
  handler!: UpstreamHandler;
  aborts = 0;
  dispatch(_request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    this.handler = handler;
    return { abort: () => this.aborts++ };
  }
  async close(): Promise<void> {}
}

/** Takes frames; a frame named `ending`, `done` or `failed` is answered with that verdict. */
class Consumer implements FrameConsumer {
  readonly frames: string[] = [];
  slow = false;
  resume: () => void = () => {};
  onFrame(text: string, start: number, end: number): FrameVerdict {
    const data = text.slice(start, end);
    this.frames.push(data);
    return data === 'ending' || data === 'done' || data === 'failed' ? data : 'more';
  }
  onChunkEnd(resume: () => void): boolean {
    this.resume = resume;
    return !this.slow;
  }
}

/** Needs fake timers for `setInterval` (`vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate'] })`). */
export class PlayedCall {
  readonly clock = new ManualClock();
  readonly deadlines = new Deadlines(this.clock);
  readonly consumer = new Consumer();
  readonly call: Call;
  resumed = 0;
  private over: CallResult | undefined;
  private readonly transport = new PlayedTransport();

  constructor({ stream = false, ...budgets }: Partial<Budgets> & { stream?: boolean } = {}) {
    const { clock, deadlines, transport } = this;
    const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
    const request = { route, path: '/chat/completions', body: Buffer.from('{}'), stream, headers: [] };
    this.call = new Call(
      { transport, deadlines, clock },
      request,
      { ...specifiedBudgets, ...budgets },
      stream ? this.consumer : null,
      (result) => {
        this.over = result;
      },
    );
  }

  get aborts(): number {
    return this.transport.aborts;
  }

  get result() {
    return this.afterTurns();
  }

  /** A whole answer is given at the end of a turn, which fake timers hold back. */
  private async afterTurns(): Promise<CallResult> {
    while (this.over === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      vi.advanceTimersByTime(0);
    }
    return this.over;
  }

  head(status = 200, headers: string[] = []): this {
    this.transport.handler.onHeaders(status, headers, () => this.resumed++);
    return this;
  }

  sse(): this {
    return this.head(200, ['content-type', 'text/event-stream']);
  }

  /** Returns what the transport is told: false = pause. The bytes are lent, as by a transport that reuses its buffer. */
  data(text: string | Buffer): boolean {
    const lent = Buffer.from(text as string);
    const flowing = this.transport.handler.onData(lent);
    lent.fill('?');
    return flowing;
  }

  end(): void {
    this.transport.handler.onEnd();
  }

  fail(message: string, code?: string): void {
    this.transport.handler.onError(Object.assign(new Error(message), { code }));
  }

  /** Lets time pass, tick by tick. */
  pass(ms: number): this {
    for (let left = ms; left > 0; left -= tickMs) {
      this.clock.advance(Math.min(left, tickMs));
      vi.advanceTimersByTime(tickMs);
    }
    return this;
  }

  /** Passes time until the call gives up, and says when that was. */
  passUntilOver(limitMs = 400_000): number {
    while (this.deadlines.size > 0 && this.clock.monotonicMs() < limitMs) this.pass(tickMs);
    return this.clock.monotonicMs();
  }
}
