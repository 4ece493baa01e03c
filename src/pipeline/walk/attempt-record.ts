/** What is kept of an attempt, which the receipt, the generation and the metrics are made from, and the room in the journal for it. */
import { isFree } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { AttemptRecord } from '../../domain/generation.js';
import type { CallResult } from '../../providers/call.js';
import type { Failure } from '../../providers/classify/failure.js';
import type { Exchange, Served, Trail } from '../handover.js';
import type { PipelinePorts } from '../ports.js';

export type AttemptOutcome = Served | { kind: 'failure'; failure: Failure } | { kind: 'gone' };

/** Notes an attempt before anything is known of its end. */
export function beginRecord({ trail }: Exchange, { provider, locode }: Route): AttemptRecord {
  const record = { provider: provider.id, locode, outcome: '', status: null, first_byte_ms: null, error: null };
  trail.attempts.push(record);
  trail.providersAttempted.push(provider.id);
  return record;
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
