/** The other end of a SideThread: answers each message with the result of a function. */

import { parentPort } from 'node:worker_threads';
import type { MaybePromise } from './turn.js';
import { collectNow } from './v8-settings.js';

interface ThreadAnswer<Out> {
  result: Out;
  transfer?: ArrayBuffer[];
}

export function serveThread<In, Out>(
  work: (message: In) => MaybePromise<ThreadAnswer<Out>>,
  describeError: (error: unknown) => unknown = String,
  /** After such a message, the thread frees its memory before it takes the next one. */
  isLarge: (message: In) => boolean = () => false,
): void {
  const port = parentPort!;
  let turn = Promise.resolve();
  port.on('message', (arrived: In) => {
    // It must not be in reach of the collection, which would keep it.
    let message: In | null = arrived;
    turn = turn.then(async () => {
      const collects = isLarge(message!);
      try {
        const { result, transfer } = await work(message!);
        port.postMessage({ ok: true, result }, transfer ?? []);
      } catch (error) {
        port.postMessage({ ok: false, error: describeError(error) });
      }
      message = null;
      if (collects) collectNow();
    });
  });
}
