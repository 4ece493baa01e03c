/** Limits the requests that one IP address may send in a minute. It runs before the key is read. */
import { isIPv4 } from 'node:net';
import { subscriberNetwork } from '../base/ip-address.js';
import { andThen, type MaybePromise } from '../base/maybe-promise.js';
import { RecentMap } from '../base/recent-map.js';
import type { Counters } from '../cluster/ports.js';
import { ipRateLimited } from './refusals.js';

/** The peers that are counted exactly in one minute. Further peers are counted in a sketch; together they take about 30 MB. */
export const exactPeersMax = 65_536;

export class IpLimiter {
  constructor(
    readonly requestsPerMinute: number,
    private readonly requests: Counters,
  ) {}

  /**
   * Throws ip_rate_limited. `address` is the connection's own or the one that a trusted proxy names: a caller that could choose
   * it could use up somebody else's requests.
   */
  take(address: string | undefined): MaybePromise<void> {
    return andThen(this.requests.take(peerOf(address), 1, this.requestsPerMinute), ({ admitted, resetMs }) => {
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
