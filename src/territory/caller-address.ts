/**
 * Finds the caller's address: the connection's peer or, where the peer is one of the operator's proxies, the right-most address
 * of the client-ip header that is not a proxy. The caller can write everything to the left of it, so that is never believed.
 */

import { RecentMap } from '../base/collections.js';
import { AddressRanges, peerAddress, readAddress } from '../base/ip-address.js';
import { joinedHeader } from '../base/raw-header.js';

/** More proxies than any installation chains; it bounds the cost of a header that lists only trusted addresses. */
const hopsMax = 32;
/** Longer headers are not cached, which keeps the cache small. */
const keptHeaderMax = 128;

/** `rawHeaders` is the request's flat list of header names and values. */
export function callerAddress(
  socketAddress: string | undefined,
  rawHeaders: readonly string[],
  trust: ProxyTrust,
): string {
  const peer = peerAddress(socketAddress);
  return trust.trusts(peer) ? forwardedAddress(peer, rawHeaders, trust) : peer;
}

/**
 * The address that a trusted proxy vouches for: the right-most one of the client-ip header that is not a proxy. The caller can write
 * everything to the left of it, so that is never believed.
 */
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
 * Reads the header from the right: every trusted address vouches for the entry to its left. An entry that is not an address
 * (`unknown`, empty) ends the reading, because nothing vouches for the entries to its left.
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

const addressesMax = 4096;

/** Which peers are the operator's own proxies (`server.trusted_proxies`). Headers of other peers are not believed. */
export class ProxyTrust {
  /** Whether any proxy is trusted. Where none is, no header is read. */
  readonly any: boolean;
  /** The addresses found in client-ip headers, by the header's text. Empty where nothing in the header can be believed. */
  readonly forwarded = new RecentMap<string>(addressesMax);
  private readonly ranges: AddressRanges;
  private readonly known = new RecentMap<boolean>(addressesMax);

  constructor(
    trustedProxies: readonly string[],
    /** In lower case. */
    readonly clientIpHeader: string,
  ) {
    this.any = trustedProxies.length > 0;
    this.ranges = new AddressRanges(trustedProxies);
  }

  /** `address` is in canonical form, as peerAddress and readAddress return it. */
  trusts(address: string): boolean {
    if (!this.any || address === '') return false;
    const known = this.known.get(address);
    if (known !== undefined) return known;
    const trusted = this.ranges.includes(address);
    this.known.set(address, trusted);
    return trusted;
  }
}
