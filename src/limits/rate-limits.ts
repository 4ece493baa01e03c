/** The limits of a minute: requests of an address, requests and tokens of a key; and the errors where one is used up. */
import { isIPv4 } from 'node:net';
import { RecentMap } from '../base/collections.js';
import { subscriberNetwork } from '../base/ip-address.js';
import { durationText } from '../base/time.js';
import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import type { Counters, Reading, Take } from '../cluster/ports.js';
import type { Config } from '../config/config.js';
import { type Identity, keyProjectId } from '../domain/account.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';

type ProjectLimit = 'requestsPerMinute' | 'tokensPerMinute';

/**
 * Limits the requests and the tokens that a key may use in a minute. The two are counted separately. The account's own limits
 * override the configuration's, the key's own may be lower still, and each request reads them anew. A project may have limits that its keys
 * share: a request then takes from both counters, or from neither.
 */
export class KeyLimiter {
  constructor(
    private readonly defaults: Pick<Config['limits'], 'keyRequestsPerMinute' | 'keyTokensPerMinute'>,
    private readonly requests: Counters,
    private readonly tokens: Counters,
  ) {}

  /**
   * Counts a request as soon as its key is verified. The refusal is returned and not thrown, because other checks come before
   * it in the order of errors. null where the request is admitted.
   */
  countRequest(identity: Identity, requests = 1): MaybePromise<GatewayError | null> {
    const limit = this.requestLimitOf(identity);
    const own = this.requests.take(identity.key.id, requests, limit, identity.account.id);
    const shared = this.countForProject(identity, requests);
    if (shared === null && !isPending(own) && own.admitted) return null;
    return andThen(own, (taken) => {
      const refusal = taken.admitted ? null : keyRateLimited('requests', limit, taken.resetMs);
      return shared === null ? refusal : this.requestRefusal(identity, refusal, { own: taken, shared, requests });
    });
  }

  /** Counts a request for the project alone, beside an admission that counts it for the key; null where the project has no limit. */
  countForProject(identity: Identity, requests = 1): MaybePromise<Take> | null {
    const limit = projectLimit(identity, 'requestsPerMinute');
    return limit === null ? null : this.requests.take(identity.project.id, requests, limit, identity.account.id);
  }

  /** The refusal by either, with `refusal` as the key's. What only one of them admitted is given back. */
  requestRefusal(
    identity: Identity,
    refusal: GatewayError | null,
    { own, shared, requests }: { own: Partial<Pick<Take, 'adjust'>>; shared: MaybePromise<Take>; requests: number },
  ): MaybePromise<GatewayError | null> {
    return andThen(shared, (taken) => {
      if (refusal === null && !taken.admitted) {
        void own.adjust?.(-requests);
        return projectRateLimited(identity, 'requests', taken.resetMs);
      }
      if (refusal !== null && taken.admitted) void taken.adjust(-requests);
      return refusal;
    });
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
    const own = this.tokens.take(identity.key.id, estimate, limit, identity.account.id);
    const shared = this.takeProjectTokens(identity, estimate);
    if (shared === null && !isPending(own)) return this.reserve(identity, estimate, own, null);
    return andThen(own, (taken: Take) =>
      shared === null
        ? this.reserve(identity, estimate, taken, null)
        : andThen(shared, (ofProject) => this.reserve(identity, estimate, taken, ofProject)),
    );
  }

  /** Takes tokens for the project alone, beside an admission that takes the key's; null where the project has no limit. */
  takeProjectTokens(identity: Identity, estimate: number): MaybePromise<Take> | null {
    const limit = projectLimit(identity, 'tokensPerMinute');
    return limit === null ? null : this.tokens.take(identity.project.id, estimate, limit, identity.account.id);
  }

  /** The reservation of tokens that were taken already. Throws key_rate_limited where they were refused, and then reserves nothing. */
  reserve(identity: Identity, estimate: number, taken: Take, ofProject: Take | null): Reservation {
    if (taken.admitted && ofProject?.admitted !== false) return new TokenReservation(taken, ofProject, estimate);
    if (taken.admitted) {
      void taken.adjust(-estimate);
      throw projectRateLimited(identity, 'tokens', ofProject?.resetMs ?? 0);
    }
    if (ofProject?.admitted) void ofProject.adjust(-estimate);
    throw keyRateLimited('tokens', this.tokenLimitOf(identity), taken.resetMs);
  }

  /** Whether the key or its project has no requests left, as far as this process knows. */
  isUsedUp(identity: Identity): boolean {
    if (this.requests.peek(identity.key.id).used >= this.requestLimitOf(identity)) return true;
    const limit = projectLimit(identity, 'requestsPerMinute');
    return limit !== null && this.requests.peek(identity.project.id).used >= limit;
  }

  /** The error that `takeTokens` would throw now. Takes nothing. */
  tokenRefusal(identity: Identity, estimate: number): GatewayError | null {
    const limit = this.tokenLimitOf(identity);
    const { used, resetMs } = this.tokens.peek(identity.key.id);
    if (used > 0 && used + estimate > limit) return keyRateLimited('tokens', limit, resetMs);
    const most = projectLimit(identity, 'tokensPerMinute');
    if (most === null) return null;
    const shared = this.tokens.peek(identity.project.id);
    const isOver = shared.used > 0 && shared.used + estimate > most;
    return isOver ? projectRateLimited(identity, 'tokens', shared.resetMs) : null;
  }

  /** OpenAI's six `x-ratelimit-*` headers, which every authenticated response has, as a flat list of names and values. */
  headersOf(identity: Identity): string[] {
    const requests = fewerLeft(identity, 'requestsPerMinute', this.requests, this.requestLimitOf(identity));
    const tokens = fewerLeft(identity, 'tokensPerMinute', this.tokens, this.tokenLimitOf(identity));
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

/** What the keys of a project share; null where it is not limited. A management key of the whole account is no key of a project. */
function projectLimit({ key, project }: Identity, name: ProjectLimit): number | null {
  const limit = project.limits[name];
  return limit === null || keyProjectId(key) === null ? null : limit;
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
    private readonly ofProject: Take | null,
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
    if (tokens === this.held) return;
    void this.take.adjust(tokens - this.held);
    if (this.ofProject !== null) void this.ofProject.adjust(tokens - this.held);
  }
}

interface BudgetState {
  limit: number;
  reading: Reading;
}

/** Of the limits of key and project the one with fewer left, and the key's where both have as many. */
function fewerLeft(identity: Identity, name: ProjectLimit, counters: Counters, limit: number): BudgetState {
  const own = { limit, reading: counters.peek(identity.key.id) };
  const most = projectLimit(identity, name);
  if (most === null) return own;
  const shared = { limit: most, reading: counters.peek(identity.project.id) };
  return shared.limit - shared.reading.used < own.limit - own.reading.used ? shared : own;
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

type LimitKind = 'requests' | 'tokens';

export function ipRateLimited(limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('ip_rate_limited', { limit, seconds }, { retryAfterSeconds: seconds });
}

export function keyRateLimited(budget: LimitKind, limit: number, resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('key_rate_limited', { budget, limit, seconds }, { retryAfterSeconds: seconds });
}

function projectRateLimited({ project }: Identity, budget: LimitKind, resetMs: number): GatewayError {
  const { requestsPerMinute, tokensPerMinute } = project.limits;
  const limit = (budget === 'requests' ? requestsPerMinute : tokensPerMinute) ?? 0;
  const seconds = retryAfterSeconds(resetMs);
  const values = { budget, limit, seconds, project: project.name };
  return gatewayError('key_rate_limited', values, { retryAfterSeconds: seconds });
}

/** A request sent this much later finds a new window. Rounded up, so that it is never too early and never 0. */
export function retryAfterSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
