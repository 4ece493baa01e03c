/** How an attempt ended and what is kept of it, which the receipt, the generation and the metrics are made from; and the room in the journal for it. */
import type { Clock } from '../../base/time.js';
import { answeredModelFault, isFree } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { AttemptRecord } from '../../domain/generation.js';
import { failureOf, innerError, noAnswer, oversizedFailure, type UnreadFailure } from '../../providers/call-failure.js';
import type { CallResult } from '../../providers/call-result.js';
import type { Failure } from '../../providers/classify/failure.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { Exchange, Relay, Served, Trail } from '../handover.js';
import type { PipelinePorts } from '../ports.js';

export type AttemptOutcome = Served | { kind: 'failure'; failure: Failure } | { kind: 'gone' };

/** Notes an attempt before anything is known of its end. */
export function beginRecord({ trail }: Exchange, { provider, locode }: Route): AttemptRecord {
  const record = { provider: provider.id, locode, outcome: '', status: null, first_byte_ms: null, error: null };
  trail.attempts = withItem(trail.attempts, record);
  trail.providersAttempted = withItem(trail.providersAttempted, provider.id);
  return record;
}

/** A list with one item more. Most have one. */
function withItem<T>(list: readonly T[], item: T): T[] {
  return list.length === 0 ? [item] : [...list, item];
}

/** Notes how it has ended. */
export function note(record: AttemptRecord, outcome: AttemptOutcome, result: CallResult): void {
  record.status = 'status' in result ? result.status : null;
  if (outcome.kind === 'failure') {
    record.outcome = outcome.failure.meaning;
    record.error = outcome.failure.quote;
  } else if (outcome.kind === 'gone') {
    record.outcome = 'client_closed';
  } else {
    record.outcome = outcome.kind === 'stream' && outcome.end !== 'complete' ? outcome.end : 'served';
  }
}

/** Notes the attempt that is over: the last one that has begun. */
export function addTimedAttempt(
  { trail }: Pick<Exchange, 'trail'>,
  route: Route,
  startedAtMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
): void {
  const record = trail.attempts.at(-1);
  if (!record) return;
  trail.timedAttempts = withItem(trail.timedAttempts, { route, record, startedAtMs, endedAtMs: clock.monotonicMs() });
}

export function pricingFault(status: number, reason: string): Failure {
  return { meaning: 'pricing_fault', status, quote: `the answer cannot be priced: ${reason}` };
}

/** One record with one attempt takes less. */
const recordBytes = 2 * 1024;
/** A route that was passed over. */
const skippedBytes = 160;
/** A stream is recorded when it begins, when its caller leaves, and at its end. */
const recordsOfStream = 3;
/** Records a failed attempt with the first 500 characters of the provider's message. */
const failedAttemptBytes = 4 * 1024;

/** False where there is no room. What is reserved is counted in the trail, and given back when the request is over. */
export function reserveRecords(
  journal: Pick<PipelinePorts['journal'], 'reserve'>,
  trail: Trail,
  { price }: Route,
  stream: boolean,
): boolean {
  if (!price || isFree(price)) return true;
  const recorded = recordBytes + skippedBytes * (trail.skipped?.length ?? 0);
  const first = stream ? recordsOfStream * recorded : recorded;
  const bytes = trail.reservedBytes === 0 ? first : failedAttemptBytes;
  if (!journal.reserve(bytes)) return false;
  trail.reservedBytes += bytes;
  return true;
}

/** An outcome whose error from the upstream has not been read yet. */
export type UnreadOutcome =
  | Exclude<AttemptOutcome, { kind: 'failure' }>
  | { kind: 'failure'; failure: Failure | UnreadFailure };

type Answer = Extract<CallResult, { kind: 'answer' }>;
type NotAnswer = Exclude<CallResult, Answer>;

/** What a call that brought no whole answer means. */
export function outcomeOf(
  { request }: Exchange,
  route: Route,
  result: NotAnswer,
  relay: Relay | null,
  nowMs: number,
): UnreadOutcome {
  switch (result.kind) {
    case 'gone':
      return { kind: 'gone' };
    case 'stream':
    case 'frame_failed':
      return streamOutcome(request, route, result, relay!);
    case 'timeout':
      // Finish reasons say that the answer is whole, even if the upstream then forgets to close.
      if (relay?.hasFinished(false)) return { kind: 'stream', end: 'complete', reason: '' };
      if (relay?.committed) return { kind: 'stream', end: 'stalled', reason: '' };
      return { kind: 'failure', failure: failureOf(result, route, nowMs, request) };
    default:
      return { kind: 'failure', failure: failureOf(result, route, nowMs, request) };
  }
}

/** What a whole answer means, once it is read. */
export function answerOutcome(
  exchange: Exchange,
  route: Route,
  { status, body }: Answer,
  reading: Awaited<ReturnType<PipelinePorts['answers']['read']>>,
): UnreadOutcome {
  if (reading.kind === 'error') return { kind: 'failure', failure: innerError(status, reading.error, route) };
  if (reading.kind === 'malformed') {
    const { reason, excess } = reading;
    const failure = excess ? oversizedFailure(status, reason, exchange.request) : noAnswer(status, reason, body, route);
    return { kind: 'failure', failure };
  }
  const { parts } = reading;
  const usage = parts.reading;
  const fault =
    usage.kind === 'fault' ? usage.reason : answeredModelFault(exchange.snapshot, route, parts.answeredModel);
  if (fault) return { kind: 'failure', failure: pricingFault(status, fault) };
  return { kind: 'answer', parts };
}

function streamOutcome(
  request: ChatRequest,
  route: Route,
  result: Extract<CallResult, { kind: 'stream' | 'frame_failed' }>,
  relay: Relay,
): UnreadOutcome {
  const { fault, committed, sawDone } = relay;
  const { status } = result;
  if (fault?.kind === 'pricing') {
    if (committed) return { kind: 'stream', end: 'pricing_fault', reason: fault.reason };
    return { kind: 'failure', failure: pricingFault(status, fault.reason) };
  }
  if (!fault && relay.hasFinished(result.kind === 'stream' && result.cleanly))
    return { kind: 'stream', end: 'complete', reason: '' };
  const excess = result.kind === 'stream' && result.excess ? oversizedFailure(status, result.reason, request) : null;
  if (committed) {
    const end = sawDone && !fault ? 'complete' : 'cut';
    return { kind: 'stream', end, reason: '', ...(excess?.oversized && { oversized: true }) };
  }
  if (excess) return { kind: 'failure', failure: excess };
  if (fault?.kind === 'error_frame') return { kind: 'failure', failure: innerError(status, fault.error, route) };
  const why = fault ? 'its stream began with a frame that is not JSON' : 'its stream ended before any content';
  return { kind: 'failure', failure: { meaning: 'malformed', status, quote: `${why} (HTTP ${status})` } };
}
