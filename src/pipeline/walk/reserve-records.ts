/** Room in the journal for what a request will leave there, before a provider is asked. */
import { isFree } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { PipelinePorts, Trail } from '../handover.js';

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
