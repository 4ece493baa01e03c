/** The per-IP limiter: a peer's requests a minute, before anything else is known about the caller. */

import { isIPv4, isIPv6 } from 'node:net';
import { type Counters, type Pending, whenKnown } from '../cluster/ports.js';
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
   * that can choose it can use up somebody else's requests.
   */
  take(address: string | undefined): Pending<void> {
    return whenKnown(this.requests.take(peerOf(address), 1, this.requestsPerMinute), ({ admitted, resetMs }) => {
      if (!admitted) throw ipRateLimited(this.requestsPerMinute, resetMs);
    });
  }
}

// * The name under which an address is counted: IPv4 as it is, however it is written, and IPv6 by its /64, because whoever has
// one address of a /64 has all of them.

/** What is no address shares one counter: such peers can use up only each other's requests. */
const unreadable = 'unreadable';

const mappedPrefix = '::ffff:';

export function peerOf(address: string | undefined): string {
  if (address === undefined) return unreadable;
  if (isIPv4(address)) return address;
  // How a socket that listens on both families writes every IPv4 peer.
  if (address.startsWith(mappedPrefix) && isIPv4(address.slice(mappedPrefix.length))) {
    return address.slice(mappedPrefix.length);
  }
  return isIPv6(address) ? peerOfGroups(groupsOf(address)) : unreadable;
}

function peerOfGroups(groups: readonly number[]): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  // ::ffff:0:0/96 (mapped) and 64:ff9b::/96 (NAT64): the whole of IPv4 would be one /64 there.
  const isMapped = a === 0 && b === 0 && f === 0xffff;
  const isTranslated = a === 0x64 && b === 0xff9b && f === 0;
  if ((isMapped || isTranslated) && c === 0 && d === 0 && e === 0) return `${g >> 8}.${g & 255}.${h >> 8}.${h & 255}`;
  return `${a.toString(16)}:${b.toString(16)}:${c.toString(16)}:${d.toString(16)}::/64`;
}

/** The eight groups of a valid address, whose zone (`%eth0`) says nothing about the peer. */
function groupsOf(address: string): number[] {
  const zone = address.indexOf('%');
  const plain = zone === -1 ? address : address.slice(0, zone);
  const gap = plain.indexOf('::');
  if (gap === -1) return groupsIn(plain);
  const groups = groupsIn(plain.slice(0, gap));
  const tail = groupsIn(plain.slice(gap + 2));
  while (groups.length + tail.length < 8) groups.push(0);
  return groups.concat(tail);
}

function groupsIn(text: string): number[] {
  const groups: number[] = [];
  if (text === '') return groups;
  for (const group of text.split(':')) {
    if (group.includes('.')) groups.push(...pairOf(group));
    else groups.push(Number.parseInt(group, 16));
  }
  return groups;
}

/** The last two groups, written as an IPv4 address. */
function pairOf(dotted: string): [number, number] {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}
