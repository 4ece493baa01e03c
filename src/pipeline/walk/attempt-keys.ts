/**
 * The attempts on a route whose provider has several keys of the operator: one with each key, until one serves, or fails for a reason
 * that is not the key's.
 */

import type { ProviderKey } from '../../base/provider-key.js';
import type { MaybePromise } from '../../base/turn.js';
import type { Failure } from '../../providers/classify/failure.js';
import type { KeyPool, TakenKey } from '../../providers/credentials/key-pool.js';
import type { PipelinePorts } from '../ports.js';
import type { Attempt } from './attempt.js';
import { type AttemptOutcome, addTimedAttempt, beginRecord, reserveRecords } from './attempt-record.js';

interface KeyPorts extends Pick<PipelinePorts, 'clock' | 'journal'> {
  readonly providerKeys: Pick<KeyPool, 'take' | 'waitMs'>;
}

/** The last attempt is the walk's own to end, so the walk has to know when it began. */
export type KeyedAttempt = Attempt & { startedAtMs: number };

export type RouteOutcome =
  /** `isKeyLeft`: the time or the room was used up before the last key was tried, so nothing counts against the route. */
  Exclude<AttemptOutcome, { kind: 'failure' }> | { kind: 'failure'; failure: Failure; isKeyLeft?: true };

export async function attemptWithKeys(
  ports: KeyPorts,
  keyed: KeyedAttempt,
  attempt: (withKey: Attempt) => MaybePromise<AttemptOutcome>,
): Promise<RouteOutcome> {
  const { clock, providerKeys } = ports;
  const { exchange, route, budgets } = keyed;
  const beganAtMs = keyed.startedAtMs;
  const tried: ProviderKey[] = [];
  let taken = providerKeys.take(route.provider);
  if (taken === null) return allHeld(ports, keyed);
  let last: Failure | null = null;
  let lastLimited: Failure | null = null;
  for (; taken !== null; taken = providerKeys.take(route.provider, tried)) {
    if (last !== null) {
      const stopped = mayGoOn(ports, keyed, last, beganAtMs);
      if (stopped !== null) {
        taken.end('neither');
        return stopped;
      }
      addTimedAttempt(exchange, route, keyed.startedAtMs, clock);
      keyed.startedAtMs = clock.monotonicMs();
    }
    const overallMs = budgets.overallMs - (keyed.startedAtMs - beganAtMs);
    const withKey = { ...keyed, key: taken.key, budgets: { ...budgets, overallMs } };
    const { outcome, isKeys } = await attemptWith(taken, withKey, attempt);
    if (!isKeys || outcome.kind !== 'failure') return outcome;
    last = outcome.failure;
    if (last.meaning !== 'quota' && last.meaning !== 'auth') lastLimited = last;
    tried.push(taken.key);
  }
  // Where a limit will end by itself, the route is neither held until midnight nor without a key.
  return { kind: 'failure', failure: lastLimited ?? last! };
}

/** `isKeys`: it failed for a reason that is the key's alone. */
interface EndedAttempt {
  readonly outcome: AttemptOutcome;
  readonly isKeys: boolean;
}

async function attemptWith(
  taken: TakenKey,
  withKey: Attempt,
  attempt: (withKey: Attempt) => MaybePromise<AttemptOutcome>,
): Promise<EndedAttempt> {
  let ended: Parameters<TakenKey['end']>[0] = 'neither';
  let isKeys = false;
  let outcome: AttemptOutcome;
  try {
    outcome = await attempt(withKey);
    if (outcome.kind === 'failure') ended = outcome.failure;
    else if (outcome.kind === 'answer' || (outcome.kind === 'stream' && outcome.end === 'complete')) ended = 'served';
  } finally {
    isKeys = taken.end(ended);
  }
  return { outcome, isKeys };
}

/** Whether another key may be tried: null, or the end of the attempts. */
function mayGoOn(
  { clock, journal }: KeyPorts,
  { exchange: { caller, trail, request }, route, budgets }: Attempt,
  failure: Failure,
  beganAtMs: number,
): RouteOutcome | null {
  if (caller.gone) return { kind: 'gone' };
  const isInTime = clock.monotonicMs() - beganAtMs < budgets.overallMs;
  if (isInTime && reserveRecords(journal, trail, route, request.stream)) return null;
  return { kind: 'failure', failure, isKeyLeft: true };
}

/** No call is made. What the provider said is not repeated: it said it to another caller. */
function allHeld({ providerKeys }: KeyPorts, { exchange, route }: Attempt): RouteOutcome {
  const status = 429;
  const quote = `a rate limit holds all keys of ${route.provider.id} for this model (HTTP ${status})`;
  const failure: Failure = {
    ...{ meaning: 'rate_limit', status, quote },
    retryAfterMs: providerKeys.waitMs(route.provider) ?? 0,
  };
  Object.assign(beginRecord(exchange, route), { outcome: failure.meaning, status, error: quote });
  return { kind: 'failure', failure };
}
