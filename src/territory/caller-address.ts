/**
 * The address of whoever calls: the connection's peer, or, where that is one of the operator's proxies, the
 * right-most address of the client-ip header that is not. What stands left of it was written by the caller and is never believed.
 */

import { BlockList, isIPv4 } from 'node:net';
import { joinedHeader } from '../base/raw-header.js';
import { canonicalAddress, peerAddress, readAddress } from './ip-address.js';
import { RecentMap } from './recent-map.js';

/** More proxies than any installation has in a row; a header of trusted addresses alone costs no more than this. */
const hopsMax = 32;
/** Longer headers are read each time, so that what is kept stays small. */
const keptHeaderMax = 128;

/** `rawHeaders` is the flat list of names and values of the request. */
export function callerAddress(
  socketAddress: string | undefined,
  rawHeaders: readonly string[],
  trust: ProxyTrust,
): string {
  const peer = peerAddress(socketAddress);
  return trust.trusts(peer) ? forwardedAddress(peer, rawHeaders, trust) : peer;
}

/** The same for a peer that is known to be trusted. */
export function forwardedAddress(peer: string, rawHeaders: readonly string[], trust: ProxyTrust): string {
  const header = joinedHeader(rawHeaders, trust.clientIpHeader);
  if (header === undefined) return peer;
  const known = trust.forwarded.get(header);
  if (known !== undefined) return known || peer;
  const address = lastBelievable(header, trust);
  if (header.length <= keptHeaderMax) trust.forwarded.set(header, address);
  return address || peer;
}

/**
 * From the right: every trusted address vouches for the entry left of it. An entry that is no address (`unknown`, nothing)
 * ends that, because what is left of it has no voucher.
 */
function lastBelievable(header: string, trust: ProxyTrust): string {
  let believed = '';
  let end = header.length;
  for (let hops = 0; hops < hopsMax && end >= 0; hops++) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const address = readAddress(header.slice(comma + 1, end));
    if (address === null) break;
    believed = address;
    if (!trust.trusts(address)) break;
    end = comma;
  }
  return believed;
}

// Which peers are the operator's own proxies (contract 2, `server.trusted_proxies`). Nobody else's headers are believed.

const addressesMax = 4096;
const mappedBits = 96;

export class ProxyTrust {
  /** Whether any proxy is trusted at all; where none is, no header is ever looked at. */
  readonly any: boolean;
  /** What client-ip headers came to, by their text; kept by callerAddress. An empty address: nothing in it was believable. */
  readonly forwarded = new RecentMap<string>(addressesMax);
  // One list a family: a single one would take every IPv4 address for a member of `::/0`.
  private readonly ipv4Ranges = new BlockList();
  private readonly ipv6Ranges = new BlockList();
  private readonly known = new RecentMap<boolean>(addressesMax);

  constructor(
    trustedProxies: readonly string[],
    /** In lower case. */
    readonly clientIpHeader: string,
  ) {
    this.any = trustedProxies.length > 0;
    for (const range of trustedProxies) this.add(range);
  }

  /** `address` as peerAddress or readAddress give it. */
  trusts(address: string): boolean {
    if (!this.any || address === '') return false;
    const known = this.known.get(address);
    if (known !== undefined) return known;
    const trusted = isIPv4(address) ? this.ipv4Ranges.check(address, 'ipv4') : this.ipv6Ranges.check(address, 'ipv6');
    this.known.set(address, trusted);
    return trusted;
  }

  private add(range: string): void {
    const [text = '', bitsText = ''] = range.split('/');
    const address = canonicalAddress(text);
    if (address === null) throw new Error(`"${range}" is no address range`);
    const bits = Number(bitsText);
    if (!isIPv4(address)) this.ipv6Ranges.addSubnet(address, bits, 'ipv6');
    else if (isIPv4(text)) this.ipv4Ranges.addSubnet(address, bits, 'ipv4');
    // `::ffff:10.0.0.0/104` is written like IPv6 and means the IPv4 range.
    else if (bits >= mappedBits) this.ipv4Ranges.addSubnet(address, bits - mappedBits, 'ipv4');
    else this.ipv6Ranges.addSubnet(text, bits, 'ipv6');
  }
}
