/** The limits of a minute: requests of an address, requests and tokens of a key; and the errors where one is used up. */
import { isIPv4 } from 'node:net';
import { RecentMap } from '../base/collections.js';
import { subscriberNetwork } from '../base/ip-address.js';
import { andThen, type MaybePromise } from '../base/maybe-promise.js';
import { durationText } from '../base/time.js';
import type { Counters, Reading, Take } from '../cluster/ports.js';
import type { Config } from '../config/config.js';
import type { Identity } from '../domain/account.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';

export type KeyLimits = Pick<Config['limits'], 'keyRequestsPerMinute' | 'keyTokensPerMinute'>;

/**
 * Limits the requests and the tokens that a key may use in a minute. The two are counted separately. The account's own limits
 * override the configuration's, the key's own may be lower still, and each request reads them anew.
 */
export class KeyLimiter {
  constructor(
    private readonly defaults: KeyLimits,
    private readonly requests: Counters,
    private readonly tokens: Counters,
  ) {}

  /**
   * Counts a request as soon as its key is verified. The refusal is returned and not thrown, because other checks come before
   * it in the order of errors. null where the request is admitted.
   */
  countRequest(identity: Identity, requests = 1): MaybePromise<GatewayError | null> {
    const limit = this.requestLimitOf(identity);
    return andThen(
      this.requests.take(identity.key.id, requests, limit, identity.account.id),
      ({ admitted, resetMs }) => (admitted ? null : keyRateLimited('requests', limit, resetMs)),
    );
  }

  /** Counts the request and throws key_rate_limited, for callers with no checks between the two. */
  takeRequest(identity: Identity): MaybePromise<void> {
    return andThen(this.countRequest(identity), (refusal) => {
      if (refusal) throw refusal;
    });
  }

  /** Reserves the estimate, which the usage corrects later. Throws key_rate_limited and then reserves nothing. */
  takeTokens(identity: Identity, estimate: number): MaybePromise<Reservation> {
    const limit = this.tokenLimitOf(identity);
    return andThen(this.tokens.take(identity.key.id, estimate, limit, identity.account.id), (taken: Take) =>
      this.reserve(identity, estimate, taken),
    );
  }

  /** The reservation of tokens that were taken already. Throws key_rate_limited where they were refused. */
  reserve(identity: Identity, estimate: number, taken: Take): Reservation {
    if (!taken.admitted) throw keyRateLimited('tokens', this.tokenLimitOf(identity), taken.resetMs);
    return new TokenReservation(taken, estimate);
  }

  /** Whether the key has no requests left, as far as this process knows. */
  isUsedUp(identity: Identity): boolean {
    return this.requests.peek(identity.key.id).used >= this.requestLimitOf(identity);
  }

  /** The error that `takeTokens` would throw now. Takes nothing. */
  tokenRefusal(identity: Identity, estimate: number): GatewayError | null {
    const limit = this.tokenLimitOf(identity);
    const { used, resetMs } = this.tokens.peek(identity.key.id);
    return used > 0 && used + estimate > limit ? keyRateLimited('tokens', limit, resetMs) : null;
  }

  /** The six rate limit headers of every authenticated response, as a flat list of names and values. */
  headersOf(identity: Identity): string[] {
    const { id } = identity.key;
    return rateLimitHeaders(
      { limit: this.requestLimitOf(identity), reading: this.requests.peek(id) },
      { limit: this.tokenLimitOf(identity), reading: this.tokens.peek(id) },
    );
  }

  requestLimitOf({ key, account }: Identity): number {
    const most = account.limits.requestsPerMinute ?? this.defaults.keyRequestsPerMinute;
    return lower(key.terms.requestsPerMinute, most);
  }

  tokenLimitOf({ key, account }: Identity): number {
    return lower(key.terms.tokensPerMinute, account.limits.tokensPerMinute ?? this.defaults.keyTokensPerMinute);
  }

  /** The limits in force for a key. */
  limitsOf(identity: Identity): { requestsPerMinute: number; tokensPerMinute: number } {
    return { requestsPerMinute: this.requestLimitOf(identity), tokensPerMinute: this.tokenLimitOf(identity) };
  }
}

/** The account's limit may have been lowered after the key got its own, so the lower one counts. */
function lower(own: number | null, most: number): number {
  return own === null ? most : Math.min(own, most);
}

interface BudgetState {
  limit: number;
  reading: Reading;
}

/** OpenAI's six `x-ratelimit-*` headers, as a flat list of names and values. */
function rateLimitHeaders(requests: BudgetState, tokens: BudgetState): string[] {
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

/**
 * Tokens reserved for a request from its admission until its usage is known. The first call settles the reservation, and
 * later calls do nothing. One that is never settled ends with its window, so nothing leaks for longer than a minute. Only the
 * window that admitted the request changes.
 */
export interface Reservation {
  /** The answer used this many tokens, prompt and completion: more or fewer than were reserved. */
  correct(tokens: number): void;
  /** Nothing was delivered, but a provider has the prompt: the estimate stays taken. */
  keep(): void;
  /** Nothing was delivered, so all reserved tokens are given back. */
  cancel(): void;
}

class TokenReservation implements Reservation {
  private settled = false;

  constructor(
    private readonly take: Take,
    private readonly held: number,
  ) {}

  correct(tokens: number): void {
    // An invalid figure would spoil the sum, so the estimate stays.
    this.settle(Number.isFinite(tokens) && tokens >= 0 ? tokens : this.held);
  }

  keep(): void {
    this.settle(this.held);
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

/** The peers that are counted exactly in one minute. Further peers are counted in a sketch; together they take about 30 MB. */
export const exactPeersMax = 65_536;

/** Limits the requests that one IP address may send in a minute. It runs before the key is read. */
export class IpLimiter {
  constructor(
    readonly requestsPerMinute: number,
    private readonly requests: Counters,
  ) {}

  /**
   * Throws ip_rate_limited. `address` is the connection's own or the one that a trusted proxy names: a caller that could choose
   * it could use up somebody else's requests.
   */
  take(address: string | undefined, requests = 1): MaybePromise<void> {
    return andThen(this.requests.take(peerOf(address), requests, this.requestsPerMinute), ({ admitted, resetMs }) => {
      if (!admitted) throw ipRateLimited(this.requestsPerMinute, resetMs);
    });
  }
}

/** Everything that is not an address shares one counter: such peers can use up only each other's requests. */
const unreadable = 'unreadable';

/** The networks of IPv6 peers, because parsing an address takes longer than finding it here (docs/decisions/0034). */
const networks = new RecentMap<string>(4096);

/** The name that an address is counted under: IPv4 as it is, and IPv6 by its /64, because whoever has one address has the /64. */
export function peerOf(address: string | undefined): string {
  if (address === undefined) return unreadable;
  if (isIPv4(address)) return address;
  const known = networks.get(address);
  if (known !== undefined) return known;
  const network = subscriberNetwork(address) ?? unreadable;
  if (network !== unreadable) networks.set(address, network);
  return network;
}

export type Budget = 'requests' | 'tokens';

export function ipRateLimited(limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('ip_rate_limited', { limit, seconds }, { retryAfterSeconds: seconds });
}

export function adminRateLimited(limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('admin_rate_limited', { limit, seconds }, { retryAfterSeconds: seconds });
}

export function keyRateLimited(budget: Budget, limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('key_rate_limited', { budget, limit, seconds }, { retryAfterSeconds: seconds });
}

/** A request sent this much later finds a new window. Rounded up, so that it is never too early and never 0. */
function retryAfterSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
