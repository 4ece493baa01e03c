/** How an attempt ended, as its record says it. */
import type { AttemptRecord } from '../../domain/generation.js';
import type { CallResult } from '../../providers/call.js';
import type { Failure } from '../../providers/classify/failure.js';
import type { Served } from '../handover.js';

type Ended = Served | { kind: 'failure'; failure: Failure } | { kind: 'gone' };

export function pricingFault(status: number, reason: string): Failure {
  return { meaning: 'pricing_fault', status, quote: `the answer cannot be priced: ${reason}` };
}

export function note(record: AttemptRecord, outcome: Ended, result: CallResult): void {
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
