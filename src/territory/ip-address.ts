/** IP addresses as text in one form only: an IPv4-mapped IPv6 address is the IPv4 one, and zone ids are gone. */
import { isIP, SocketAddress } from 'node:net';

const mappedPrefix = '::ffff:';
/** The longest entry that can be an address, with brackets, zone, port, quotes and some blanks. */
const entryCharactersMax = 96;
const blanks = /^[ \t]+|[ \t]+$/g;
const quoted = /^"([^"]*)"$/;
const bracketed = /^\[([^[\]]*:[^[\]]*)\](?::\d{1,5})?$/;
const ipv4WithPort = /^([\d.]+):\d{1,5}$/;

/** A connection's peer; its text comes from the runtime, so it is well-formed. Empty where the connection is gone already. */
export function peerAddress(text: string | undefined): string {
  if (text === undefined) return '';
  return text.includes(':') ? withoutMapping(withoutZone(text)) : text;
}

/**
 * One entry of a forwarding header: `1.2.3.4`, `1.2.3.4:555`, `2001:db8::1`, `[2001:db8::1]:555`, also in quotes. null where it
 * is anything else. The result is a text of its own, so that keeping it does not keep the header.
 */
export function readAddress(entry: string): string | null {
  if (entry.length > entryCharactersMax) return null;
  const text = entry.replace(blanks, '').replace(quoted, '$1');
  const address = bracketed.exec(text)?.[1] ?? ipv4WithPort.exec(text)?.[1] ?? text;
  return canonicalAddress(address);
}

/** The one spelling of an address; null where the text is none. */
export function canonicalAddress(text: string): string | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4) return new SocketAddress({ address: text, family: 'ipv4' }).address;
  return withoutMapping(new SocketAddress({ address: withoutZone(text), family: 'ipv6' }).address);
}

/**
 * The IPv4 address that a canonical IPv6 address stands for: behind NAT64 (RFC 6052, `64:ff9b::/96`) or 6to4 (RFC 3056,
 * `2002::/16`). A database of countries knows the IPv4 one only.
 */
export function embeddedIpv4(address: string): string | null {
  const groups = /^(?:64:ff9b::|2002:)([0-9a-f]{1,4}):([0-9a-f]{0,4})(?:$|:)/.exec(address);
  if (!groups || (address.startsWith('64:') && groups[0] !== address)) return null;
  const high = Number.parseInt(groups[1]!, 16);
  const low = Number.parseInt(groups[2] || '0', 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function withoutZone(text: string): string {
  const zone = text.indexOf('%');
  return zone < 0 ? text : text.slice(0, zone);
}

function withoutMapping(text: string): string {
  return text.startsWith(mappedPrefix) && text.includes('.') ? text.slice(mappedPrefix.length) : text;
}
