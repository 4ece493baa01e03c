/**
 * A worker thread for work that would delay other requests: started when first needed, stopped when long unused, restarted
 * after a crash. One message in, one message out, in order.
 */
import { type ResourceLimits, Worker } from 'node:worker_threads';

type Reply<Out> = { ok: true; result: Out } | { ok: false; error: unknown };

interface Waiting<Out> {
  resolve(result: Out): void;
  reject(error: unknown): void;
}

interface SideThreadOptions {
  idleMs?: number;
  resourceLimits?: ResourceLimits;
}

/** The thread died, for example out of memory, before it answered. */
export class SideThreadLost extends Error {}

export class SideThread<In, Out> {
  private worker: Worker | null = null;
  private readonly waiting: Waiting<Out>[] = [];
  private idleTimer: NodeJS.Timeout | null = null;

  constructor(
    private readonly file: URL,
    private readonly options: SideThreadOptions = {},
  ) {}

  run(message: In, transfer: ArrayBuffer[] = []): Promise<Out> {
    if (this.idleTimer) clearTimeout(this.idleTimer);
    this.idleTimer = null;
    return new Promise((resolve, reject) => {
      // A message that cannot be sent throws here, before anything waits for its answer.
      this.started().postMessage(message, transfer);
      this.waiting.push({ resolve, reject });
    });
  }

  async close(): Promise<void> {
    if (this.idleTimer) clearTimeout(this.idleTimer);
    this.idleTimer = null;
    const { worker } = this;
    if (!worker) return;
    // Dropped first: a message that arrives while the worker stops starts another one.
    this.rejectAll(worker);
    await worker.terminate();
  }

  private started(): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(this.file, { resourceLimits: this.options.resourceLimits });
    worker.on('message', (reply: Reply<Out>) => {
      if (this.worker === worker) this.settleOldest(reply);
    });
    worker.on('error', () => this.rejectAll(worker));
    worker.on('exit', () => this.rejectAll(worker));
    worker.unref();
    this.worker = worker;
    return worker;
  }

  private settleOldest(reply: Reply<Out>): void {
    const waiting = this.waiting.shift();
    if (reply.ok) waiting?.resolve(reply.result);
    else waiting?.reject(reply.error);
    if (this.waiting.length > 0 || this.options.idleMs === undefined) return;
    this.idleTimer = setTimeout(() => void this.close(), this.options.idleMs).unref();
  }

  private rejectAll(worker: Worker): void {
    if (this.worker !== worker) return;
    this.worker = null;
    for (const waiting of this.waiting.splice(0)) waiting.reject(new SideThreadLost('The side thread was lost.'));
  }
}
