/** The headers that show how much of a minute's limits is left. */
import { durationText } from '../base/time.js';
import type { Reading } from '../cluster/ports.js';

/** The key's where both have as many left. */
export function fewerLeft(own: BudgetState, shared: BudgetState): BudgetState {
  return shared.limit - shared.reading.used < own.limit - own.reading.used ? shared : own;
}

interface BudgetState {
  limit: number;
  reading: Reading;
}

/** OpenAI's six `x-ratelimit-*` headers, as a flat list of names and values. */
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

/** Usage and a lowered limit can exceed the limit; the remainder is then 0. */
function remainingText({ limit, reading }: BudgetState): string {
  return String(Math.max(0, limit - reading.used));
}

/**
 * `12ms` below a second, whole seconds above it (`6s`, `1m0s`), rounded up like `Retry-After`, so that the two agree and
 * neither is too early. `0s` where nothing has been used.
 */
function resetText(resetMs: number): string {
  if (resetMs === 0) return '0s';
  return durationText(resetMs < 1000 ? resetMs : Math.ceil(resetMs / 1000) * 1000);
}
