/** A rule of the tables: the words and codes that carry a meaning. */
import type { Meaning } from './failure.js';

export interface Rule {
  meaning: Meaning;
  /** A cheap pattern that must match first, for rules that are costly to compile and to run. */
  hint?: RegExp;
  /** Matches the words or the codes. Phrases that a field name, value or prompt is unlikely to contain. */
  says?: RegExp;
  /** Matches the codes only. */
  codes?: RegExp;
  /** Matches the words where the status means no rejection: such a text does not repeat the request. */
  loosely?: RegExp;
}

/** Joins several patterns into one. */
export function any(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => `(?:${source})`).join('|'));
}
