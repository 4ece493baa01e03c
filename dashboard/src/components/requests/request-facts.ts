/** Facts about a request that several pages state, so that all of them state the same. */
import type { Generation } from '../../api/usage-types.js';
import { unknown } from '../../format/figures.js';

/** How a stream ended, as every page names it. */
export function streamEndText(end: string | null): string {
  if (end === null) return unknown;
  return end === 'client_closed' ? 'client left' : end.replaceAll('_', ' ');
}

/** More than one provider was tried, or an entry of the fallback chain served. */
export function hasFallback({
  fallback_occurred: occurred,
  providers_attempted: tried,
}: Pick<Generation, 'fallback_occurred' | 'providers_attempted'>): boolean {
  return occurred || new Set(tried).size > 1;
}
