/** IP addresses in one spelling each: an IPv4-mapped IPv6 address becomes the IPv4 address, and zone ids are removed. */
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The longest entry that can be an address, with brackets, zone, port, quotes and some blanks. */
const entryCharactersMax = 96;
const mappedPrefix = '::ffff:';
const mappedBits = 96;
const nat64 = ipaddr.IPv6.parse('64:ff9b::');
const nat64Bits = 96;
const blanks = /^[ \t]+|[ \t]+$/g;
const quoted = /^"([^"]*)"$/;
const bracketed = /^\[([^[\]]*:[^[\]]*)\](?::\d{1,5})?$/;
const ipv4WithPort = /^([\d.]+):\d{1,5}$/;

/** Ranges whose addresses say nothing about where a caller is. */
const placelessRanges = new Set(['unspecified', 'private', 'carrierGradeNat', 'loopback', 'linkLocal', 'uniqueLocal']);

/**
 * The address of a connection's peer, or an empty string where the connection is already closed. Node writes it in canonical
 * form except for mapping and zone, so it needs no parsing on each request.
 */
export function peerAddress(text: string | undefined): string {
  if (text === undefined) return '';
  if (!text.includes(':')) return text;
  const plain = withoutZone(text);
  return plain.startsWith(mappedPrefix) && plain.includes('.') ? plain.slice(mappedPrefix.length) : plain;
}

/**
 * One entry of a forwarding header: `1.2.3.4`, `1.2.3.4:555`, `2001:db8::1`, `[2001:db8::1]:555`, also in quotes. null where it
 * is anything else. The result does not share memory with the header, so keeping it does not keep the header.
 */
export function readAddress(entry: string): string | null {
  if (entry.length > entryCharactersMax) return null;
  const text = entry.replace(blanks, '').replace(quoted, '$1');
  const address = bracketed.exec(text)?.[1] ?? ipv4WithPort.exec(text)?.[1] ?? text;
  return canonicalAddress(address);
}

/** The one spelling of an address; null where the text is not an address. */
export function canonicalAddress(text: string): string | null {
  return parseAddress(text)?.toString() ?? null;
}

/**
 * The IPv4 address that an IPv6 address stands for: behind NAT64 (RFC 6052, `64:ff9b::/96`) or 6to4 (RFC 3056, `2002::/16`).
 * A database of countries knows only the IPv4 address.
 */
export function embeddedIpv4(address: string): string | null {
  const parsed = parseAddress(address);
  if (!isIpv6(parsed)) return null;
  const bytes = parsed.toByteArray();
  if (parsed.match(nat64, nat64Bits)) return new ipaddr.IPv4(bytes.slice(12)).toString();
  if (parsed.range() !== '6to4') return null;
  const ipv4 = new ipaddr.IPv4(bytes.slice(2, 6));
  return ipv4.range() === 'unspecified' ? null : ipv4.toString();
}

/**
 * The network that one subscriber has: an IPv4 address alone, or an IPv6 address's /64. Behind NAT64 all of IPv4 is one /64, so
 * the IPv4 address counts there. null where the text is not an address.
 */
export function subscriberNetwork(text: string): string | null {
  const address = parseAddress(text);
  if (!isIpv6(address)) return address?.toString() ?? null;
  if (address.match(nat64, nat64Bits)) return embeddedIpv4(text);
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** Whether an address is private, local or unspecified, so that it has no country. */
export function isPlaceless(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && placelessRanges.has(parsed.range());
}

export function isLoopbackAddress(address: string): boolean {
  return parseAddress(address)?.range() === 'loopback';
}

/** A host as a configuration or a URL writes it, without a port; IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '');
  return plain.toLowerCase() === 'localhost' || isLoopbackAddress(plain);
}

/** An address range in CIDR form. A bare address stands for itself alone. null where the text is neither. */
export function canonicalRange(text: string): string | null {
  const [address = '', bits, ...rest] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return null;
  const range = `${address}/${bits ?? (isIPv4(address) ? 32 : 128)}`;
  return ipaddr.isValidCIDR(range) ? range : null;
}

/** A set of address ranges in CIDR form. */
export class AddressRanges {
  readonly #ranges: readonly (readonly [Address, number])[];

  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.map(parseRange);
  }

  includes(address: string): boolean {
    const parsed = parseAddress(address);
    if (!parsed) return false;
    return this.#ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits));
  }
}

function parseRange(text: string): readonly [Address, number] {
  if (!ipaddr.isValidCIDR(text)) throw new Error(`"${text}" is not an address range`);
  const [address, bits] = ipaddr.parseCIDR(text);
  const ipv4 = unmapped(address);
  // `::ffff:10.0.0.0/104` is written like IPv6 and means the IPv4 range.
  return ipv4 !== address && bits >= mappedBits ? [ipv4, bits - mappedBits] : [address, bits];
}

/** The library also takes `1.2.3`, `0x1.2.3.4` and `16909060` for IPv4, which no proxy writes; so Node checks the form first. */
function parseAddress(text: string): Address | null {
  return isIP(text) === 0 ? null : unmapped(ipaddr.parse(withoutZone(text)));
}

function unmapped(address: Address): Address {
  return isIpv6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function isIpv6(address: Address | null): address is ipaddr.IPv6 {
  return address?.kind() === 'ipv6';
}

function withoutZone(text: string): string {
  const zone = text.indexOf('%');
  return zone < 0 ? text : text.slice(0, zone);
}
