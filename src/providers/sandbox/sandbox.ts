/** The in-process provider: an upstream without a network, behind the same seam as one with it. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from '../transport/transport.js';
import { behaviours, unknownModel } from './behaviours.js';
import { Performance, type Script } from './script.js';

export function createSandbox({ clock }: { clock: Clock }): Transport {
  const calls = new Map<string, number>();
  const running = new Set<Performance>();

  function scriptOf({ route, body: sent, stream }: UpstreamRequest): Script {
    const body = typeof sent === 'string' ? Buffer.from(sent, 'latin1') : sent;
    const model = route.upstreamModel;
    const behaviour = behaviours.get(model);
    if (!behaviour) return unknownModel(model);
    // Counted by route, so that one rehearsal of `flaky` is not disturbed by another.
    const callNumber = (calls.get(route.id) ?? 0) + 1;
    calls.set(route.id, callNumber);
    const head = { id: answerId(body), created: Math.floor(clock.now() / 1000), model };
    return behaviour({ head, body, stream, callNumber });
  }

  return {
    dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
      const performance = new Performance(scriptOf(request), handler, (over) => running.delete(over));
      running.add(performance);
      return performance;
    },
    async close(): Promise<void> {
      for (const performance of running) {
        performance.fail(Object.assign(new Error('the sandbox was closed'), { code: 'SANDBOX_CLOSED' }));
      }
    },
  };
}

/** Of the request's first part, so that the same request gets the same answer without hashing a huge body. */
function answerId(body: Buffer): string {
  return `chatcmpl-${createHash('sha256').update(body.subarray(0, 4096)).digest('hex').slice(0, 24)}`;
}
