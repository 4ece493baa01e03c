/** OpenAI's six `x-ratelimit-*` headers (contract 4.1), made on every authenticated answer, so without more work than needed. */
import { durationText } from '../base/duration.js';
import type { Reading } from '../cluster/counters.js';

export interface BudgetState {
  limit: number;
  reading: Reading;
}

/** A flat list of names and values. */
export function rateLimitHeaders(requests: BudgetState, tokens: BudgetState): string[] {
  return [
    'x-ratelimit-limit-requests',
    String(requests.limit),
    'x-ratelimit-limit-tokens',
    String(tokens.limit),
    'x-ratelimit-remaining-requests',
    remainingText(requests),
    'x-ratelimit-remaining-tokens',
    remainingText(tokens),
    'x-ratelimit-reset-requests',
    resetText(requests.reading.resetMs),
    'x-ratelimit-reset-tokens',
    resetText(tokens.reading.resetMs),
  ];
}

/** Usage and a lowered limit can take a window beyond its limit; what remains is then nothing. */
function remainingText({ limit, reading }: BudgetState): string {
  return String(Math.max(0, limit - reading.used));
}

/**
 * `12ms` below a second, whole seconds from there on (`6s`, `1m0s`), rounded up like `Retry-After`, so that the two agree and
 * neither is too early. `0s` where nothing has been used.
 */
function resetText(resetMs: number): string {
  if (resetMs === 0) return '0s';
  return durationText(resetMs < 1000 ? resetMs : Math.ceil(resetMs / 1000) * 1000);
}
