/**
 * The address of whoever calls (contract 2): the connection's peer, or, where that is one of the operator's proxies, the
 * right-most address of the client-ip header that is not. What stands left of it was written by the caller and is never believed.
 */

import { joinedHeader } from '../base/raw-header.js';
import { peerAddress, readAddress } from './ip-address.js';
import type { ProxyTrust } from './proxy-trust.js';

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
