/**
 * The limits of a key: requests a minute and tokens a minute (check 13), counted apart from each other
 *. The account's own limits win over the configuration's and are read anew by each request.
 */

import { durationText } from '../base/time.js';
import { type Counters, type Pending, type Reading, type Take, whenKnown } from '../cluster/ports.js';
import type { Config } from '../config/config.js';
import type { Account, Identity } from '../domain/account.js';
import type { GatewayError } from '../errors/gateway-error.js';
import { keyRateLimited } from './refusals.js';

export type KeyLimits = Pick<Config['limits'], 'keyRequestsPerMinute' | 'keyTokensPerMinute'>;

export class KeyLimiter {
  constructor(
    private readonly defaults: KeyLimits,
    private readonly requests: Counters,
    private readonly tokens: Counters,
  ) {}

  /**
   * Counts a request whose key has been found good. It counts from check 4 on, while a refusal has to wait for the
   * checks in between; so the refusal is given back, to be thrown when check 7 has its turn. null = admitted.
   */
  countRequest({ key, account }: Identity): Pending<GatewayError | null> {
    const limit = this.requestLimitOf(account);
    return whenKnown(this.requests.take(key.id, 1, limit), ({ admitted, resetMs }) =>
      admitted ? null : keyRateLimited('requests', limit, resetMs),
    );
  }

  /** Counts and refuses in one, for callers with nothing between the two. Throws key_rate_limited. */
  takeRequest(identity: Identity): Pending<void> {
    return whenKnown(this.countRequest(identity), (refusal) => {
      if (refusal) throw refusal;
    });
  }

  /** Holds the estimate, to be corrected by the usage; throws key_rate_limited and holds nothing. */
  takeTokens({ key, account }: Identity, estimate: number): Pending<Reservation> {
    const limit = this.tokenLimitOf(account);
    return whenKnown(this.tokens.take(key.id, estimate, limit), (taken: Take) => {
      if (!taken.admitted) throw keyRateLimited('tokens', limit, taken.resetMs);
      return new TokenReservation(taken, estimate);
    });
  }

  /** What `takeTokens` would refuse with now; takes nothing. */
  tokenRefusal({ key, account }: Identity, estimate: number): GatewayError | null {
    const limit = this.tokenLimitOf(account);
    const { used, resetMs } = this.tokens.peek(key.id);
    return used > 0 && used + estimate > limit ? keyRateLimited('tokens', limit, resetMs) : null;
  }

  /** The six headers of every authenticated answer as they stand now, as a flat list of names and values. */
  headersOf({ key, account }: Identity): string[] {
    return rateLimitHeaders(
      { limit: this.requestLimitOf(account), reading: this.requests.peek(key.id) },
      { limit: this.tokenLimitOf(account), reading: this.tokens.peek(key.id) },
    );
  }

  /** Of each key of the account. */
  requestLimitOf(account: Account): number {
    return account.limits.requestsPerMinute ?? this.defaults.keyRequestsPerMinute;
  }

  private tokenLimitOf(account: Account): number {
    return account.limits.tokensPerMinute ?? this.defaults.keyTokensPerMinute;
  }
}

// OpenAI's six `x-ratelimit-*` headers, made on every authenticated answer, so without more work than needed.

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

// Tokens held for a request from its admission until its usage is known.

/**
 * Settled once, by whichever call comes first; later ones do nothing. What is never settled ends with its window, so nothing
 * leaks for longer than a minute. Both touch only the window that admitted the request.
 */
export interface Reservation {
  /** The answer used this many tokens, prompt and completion: more or fewer than were held. */
  correct(tokens: number): void;
  /** Nothing was delivered: everything that was held is given back. */
  cancel(): void;
}

export class TokenReservation implements Reservation {
  private settled = false;

  constructor(
    private readonly take: Take,
    private readonly held: number,
  ) {}

  correct(tokens: number): void {
    // A figure that is none would spoil the sum; the estimate then stands.
    this.settle(Number.isFinite(tokens) && tokens >= 0 ? tokens : this.held);
  }

  cancel(): void {
    this.settle(0);
  }

  private settle(tokens: number): void {
    if (this.settled) return;
    this.settled = true;
    if (tokens !== this.held) void this.take.adjust(tokens - this.held);
  }
}
