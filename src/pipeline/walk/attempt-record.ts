/** What is kept of an attempt: the receipt, the generation and the metrics are made from it. */
import type { Route } from '../../catalogue/route.js';
import type { AttemptRecord } from '../../domain/generation.js';
import type { CallResult } from '../../providers/call.js';
import type { Failure } from '../../providers/classify/failure.js';
import type { Exchange, Served } from '../handover.js';

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
