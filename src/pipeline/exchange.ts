/** What one request is, from its arrival on. */
import { generationId } from '../base/ids.js';
import type { Door } from '../doors/door.js';
import type { Caller } from './caller.js';
import type { ChatNotes, Exchange, Opening } from './handover.js';

export interface Arrival {
  readonly door: Door;
  readonly caller: Caller;
  readonly requestId: string;
  /** Filled as the request proceeds, for metrics, traces and the log. */
  readonly notes: ChatNotes;
}

/** One object for all stages. Every field is written out, because it is made for every request. */
export function exchangeOf(
  { door, caller, requestId, notes }: Arrival,
  opening: Opening,
  more: Pick<Exchange, 'startedAtMs' | 'bodyMs' | 'requestHash' | 'reservation' | 'hold'>,
): Exchange {
  const { identity, request, snapshot, plan, sentChain, preferences, stay, gated } = opening;
  const { promptEstimate, createdAt, costEstimatePico, refusal } = opening;
  return {
    door,
    caller,
    requestId,
    generationId: generationId(createdAt),
    createdAt,
    startedAtMs: more.startedAtMs,
    bodyMs: more.bodyMs,
    requestHash: more.requestHash,
    identity,
    request,
    snapshot,
    plan,
    sentChain,
    preferences,
    stay,
    gated,
    promptEstimate,
    costEstimatePico,
    refusal,
    reservation: more.reservation,
    hold: more.hold,
    trail: notes.trail,
  };
}
