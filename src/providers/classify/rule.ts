/** One rule of the tables: by which words and codes a meaning is told. */
import type { Meaning } from './failure.js';

export interface Rule {
  meaning: Meaning;
  /** A short pattern that fails for nearly all words, for rules that are costly to compile and to try. */
  hint?: RegExp;
  /** In the words or in the codes (as words). Phrases that no field name, value or prompt is likely to hold. */
  says?: RegExp;
  /** In the codes alone. */
  codes?: RegExp;
  /** In the words, where the status itself speaks of no rejection: there nothing echoes the caller's request. */
  loosely?: RegExp;
}

/** Several patterns as one, each on a line of its own. */
export function any(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => `(?:${source})`).join('|'));
}
