/**
 * `usage.extra_iterations`: what a provider spent on the side to give an answer, as on a compaction of the context, and left out
 * of the answer's own figures. Each entry has the members of a `usage`, and is billed beside the answer.
 */
import { readUsage, type TokenUsage, type UsageTerms } from './usage.js';

const none: readonly TokenUsage[] = [];

/** `usage` is an answer's, unread. Entries that cannot be billed are left out: the translator has put such figures into the answer's own. */
export function extraIterations(usage: unknown, terms: UsageTerms): readonly TokenUsage[] {
  const entries = (usage as { extra_iterations?: unknown } | null | undefined)?.extra_iterations;
  if (!Array.isArray(entries)) return none;
  return entries.flatMap((entry) => {
    const reading = readUsage(entry, terms);
    return reading.kind === 'usage' ? [reading.usage] : [];
  });
}
