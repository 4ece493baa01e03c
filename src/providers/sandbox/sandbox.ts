/** The in-process provider: a transport that answers without a network. */

import { createHash } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import { outgoingBytes } from '../../wire/outgoing-body.js';
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamRequest } from '../transport/transport.js';
import { behaviours, unknownModel } from './behaviours.js';
import { PromptCache } from './prompt-cache.js';
import { type Script, ScriptPlayer } from './script.js';

export function createSandbox({ clock }: { clock: Clock }): Transport {
  const calls = new Map<string, number>();
  const prompts = new PromptCache(clock);
  const running = new Set<ScriptPlayer>();

  function scriptOf({ route, body: sent, stream }: UpstreamRequest): Script {
    const body = outgoingBytes(sent);
    const model = route.upstreamModel;
    const behaviour = behaviours.get(model);
    if (!behaviour) return unknownModel(model);
    // Counted by route, so that two users of `flaky` do not disturb each other.
    const callNumber = (calls.get(route.id) ?? 0) + 1;
    calls.set(route.id, callNumber);
    const head = { id: answerId(body), created: Math.floor(clock.now() / 1000), model };
    return behaviour({
      ...{ head, body, stream, callNumber },
      readPrompt: (messages) => prompts.read(route.id, messages),
    });
  }

  return {
    dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
      const player = new ScriptPlayer(scriptOf(request), handler, (over) => running.delete(over));
      running.add(player);
      return player;
    },
    async close(): Promise<void> {
      for (const player of running) {
        player.fail(Object.assign(new Error('the sandbox was closed'), { code: 'SANDBOX_CLOSED' }));
      }
    },
  };
}

/** A hash of the first part of the request: equal requests get equal answers, and a huge body is not hashed. */
function answerId(body: Buffer): string {
  return `chatcmpl-${createHash('sha256').update(body.subarray(0, 4096)).digest('hex').slice(0, 24)}`;
}
