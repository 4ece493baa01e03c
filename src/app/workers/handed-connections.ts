/**
 * Connections that were handed to a worker which has not yet said that it took them. Node forgets those of a worker that dies, and their
 * callers would wait for ever; here they are closed, and the callers can try again.
 */
import type { Worker } from 'node:cluster';

/** Node's own handle of a connection. */
interface Handle {
  close(callback?: () => void): void;
}

export class HandedConnections {
  readonly #holders = new Map<Handle, Worker>();

  /** Node sends a connection by the process' own `send`, and closes its copy once it is taken. */
  watch(worker: Worker): void {
    const send = worker.process.send?.bind(worker.process) as ((...args: unknown[]) => boolean) | undefined;
    if (!send) return;
    worker.process.send = (message: unknown, ...rest: unknown[]) => {
      if (isHandle(rest[0])) this.#hand(rest[0], worker);
      return send(message, ...rest);
    };
    worker.process.once('exit', () => {
      for (const [handle, holder] of this.#holders) if (holder === worker) handle.close();
    });
  }

  #hand(handle: Handle, worker: Worker): void {
    if (!this.#holders.has(handle)) {
      const close = handle.close.bind(handle);
      handle.close = (callback) => {
        this.#holders.delete(handle);
        close(callback);
      };
    }
    // One that was turned away by a worker which is stopping goes to another.
    this.#holders.set(handle, worker);
  }
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && typeof (value as Handle).close === 'function';
}
