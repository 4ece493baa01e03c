/** Which peers are the operator's own proxies (contract 2, `server.trusted_proxies`). Nobody else's headers are believed (E9, E10). */
import { BlockList, isIPv4 } from 'node:net';
import { canonicalAddress } from './ip-address.js';
import { RecentMap } from './recent-map.js';

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
