/**
 * The limits of a key: requests a minute (contract 5, check 7) and tokens a minute (check 13), counted apart from each other
 * (failure case F2). The account's own limits win over the configuration's and are read anew by each request.
 */

import { type Counters, type Pending, type Take, whenKnown } from '../cluster/counters.js';
import type { Config } from '../config/config.js';
import type { Account, Identity } from '../domain/account.js';
import type { GatewayError } from '../errors/gateway-error.js';
import { rateLimitHeaders } from './headers.js';
import { keyRateLimited } from './refusals.js';
import { type Reservation, TokenReservation } from './reservation.js';

export type KeyLimits = Pick<Config['limits'], 'keyRequestsPerMinute' | 'keyTokensPerMinute'>;

export class KeyLimiter {
  constructor(
    private readonly defaults: KeyLimits,
    private readonly requests: Counters,
    private readonly tokens: Counters,
  ) {}

  /**
   * Counts a request whose key has been found good. It counts from check 4 on (ruling 11), while a refusal has to wait for the
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

  /** The six headers of every authenticated answer (contract 4.1) as they stand now, as a flat list of names and values. */
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
