/** Which addresses and names mean this machine and nobody else. */

/** An IPv4 peer of a socket that takes both families is written `::ffff:127.0.0.1`. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(address);
}

/** A host as a configuration or a URL writes it, without a port; IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '').toLowerCase();
  return plain === 'localhost' || isLoopbackAddress(plain);
}
