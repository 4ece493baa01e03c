/** The usage that the upstream of a stream has reported so far. */
import { type Chunk, usageOf } from '../../wire/chunk.js';
import { isEmptyUsage, readUsage } from '../../wire/usage.js';
import type { UsageReading, UsageTerms } from '../../wire/usage-types.js';

const absent: UsageReading = { kind: 'absent' };

export class ReportedUsage {
  /** The last cumulative usage, as the upstream wrote it. */
  given: unknown = null;
  /** What `given` says on this route. */
  reading = absent;
  /** As a frame named it: the one with the usage may not repeat it. */
  private tier: unknown = undefined;

  constructor(private readonly terms: UsageTerms) {}

  /** Keeps the usage of a frame; one that says nothing does not replace one that does. null where there is none. */
  take(chunk: Chunk): UsageReading | null {
    if (typeof chunk.service_tier === 'string' && chunk.service_tier !== this.tier) {
      this.tier = chunk.service_tier;
      if (this.reading.kind === 'absent') this.reading = readUsage(null, this.terms, this.tier);
    }
    const usage = usageOf(chunk);
    if (usage === null) return null;
    const reading = readUsage(usage, this.terms, this.tier);
    if (reading.kind === 'usage' && (!isEmptyUsage(reading) || this.reading.kind === 'absent')) {
      this.given = usage;
      this.reading = reading;
    } else if (reading.kind === 'absent' && this.reading.kind === 'absent') {
      this.reading = reading;
    }
    return reading;
  }
}
