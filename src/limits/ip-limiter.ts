/** The per-IP limiter (contract 5, check 2): a peer's requests a minute, before anything else is known about the caller. */
import { type Counters, type Pending, whenKnown } from '../cluster/counters.js';
import { peerOf } from './peer.js';
import { ipRateLimited } from './refusals.js';

/** Peers a minute that are counted exactly; those beyond are counted in a sketch, about 30 MB altogether. */
export const exactPeersMax = 65_536;

export class IpLimiter {
  constructor(
    readonly requestsPerMinute: number,
    private readonly requests: Counters,
  ) {}

  /**
   * Throws ip_rate_limited. `address` is the caller's: the connection's own, or the one that a trusted proxy names; a caller
   * that can choose it can use up somebody else's requests (failure case E10).
   */
  take(address: string | undefined): Pending<void> {
    return whenKnown(this.requests.take(peerOf(address), 1, this.requestsPerMinute), ({ admitted, resetMs }) => {
      if (!admitted) throw ipRateLimited(this.requestsPerMinute, resetMs);
    });
  }
}
