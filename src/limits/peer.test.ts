import { describe, expect, it } from 'vitest';
import { peerOf } from './peer.js';

describe('the peer that an address belongs to', () => {
  it.each([
    '192.0.2.17',
    '::ffff:192.0.2.17',
    '::FFFF:192.0.2.17',
    '::ffff:c000:211',
    '0:0:0:0:0:ffff:192.0.2.17',
    '0000:0000:0000:0000:0000:ffff:c000:0211',
    '64:ff9b::192.0.2.17',
    '64:ff9b::c000:211',
  ])('is one, however IPv4 is written: %s', (address) => expect(peerOf(address)).toBe('192.0.2.17'));

  it.each([
    '2001:db8:1:2::',
    '2001:db8:1:2::1',
    '2001:DB8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002:0000:0000:0000:0001',
    '2001:db8:1:2:3::4',
    '2001:db8:1:2::192.0.2.17',
    '2001:db8:1:2::1%eth0',
  ])('is the /64 of IPv6 (F6): %s', (address) => expect(peerOf(address)).toBe('2001:db8:1:2::/64'));

  it.each([
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8::5:0:0:0:1', '2001:db8:0:5::/64'],
    ['64:ff9b:1::c000:211', '64:ff9b:1:0::/64'],
    ['::ffff:0:192.0.2.17', '0:0:0:0::/64'],
  ])('keeps other networks apart: %s', (address, peer) => expect(peerOf(address)).toBe(peer));

  it('is the same one for everything that is no address', () => {
    const odd = [
      undefined,
      '',
      'unknown',
      '192.0.2',
      '192.0.2.017.1',
      '192.0.2.17:443',
      '2001:db8',
      '::ffff:1.2.3',
      '1::2::3',
    ];
    expect(new Set(odd.map(peerOf))).toEqual(new Set(['unreadable']));
  });
});
