import { describe, expect, it } from 'vitest';
import { canonicalAddress, embeddedIpv4, peerAddress, readAddress } from './ip-address.js';

describe('a peer\u2019s address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    [undefined, ''],
  ])('%s is %j', (text, address) => expect(peerAddress(text)).toBe(address));
});

describe('an entry of a forwarding header', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    [' \t1.2.3.4 ', '1.2.3.4'],
    ['1.2.3.4:555', '1.2.3.4'],
    ['"1.2.3.4"', '1.2.3.4'],
    ['"1.2.3.4:65535"', '1.2.3.4'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:555', '2001:db8::1'],
    ['"[2001:db8::1]:555"', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:80', 'fe80::1'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:102:304', '1.2.3.4'],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
  ])('%j is %s', (entry, address) => expect(readAddress(entry)).toBe(address));

  it.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    'localhost',
    'example.com:80',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '0x1.2.3.4',
    '16909060',
    '1.2.3.4:',
    '1.2.3.4:123456',
    '1.2.3.4:80:80',
    '1.2.3.4/32',
    '1.2.3.4%eth0',
    '1.2.3.4 5.6.7.8',
    '1.2.3.4;5.6.7.8',
    '[1.2.3.4]',
    '[1.2.3.4]:80',
    '[2001:db8::1',
    '2001:db8::1]',
    '[[2001:db8::1]]',
    '[2001:db8::1]x',
    '2001:db8:::1',
    '2001:db8::g',
    '"1.2.3.4',
    '""1.2.3.4""',
    'for=1.2.3.4',
    '\u00a01.2.3.4',
    '1.2.3.4\0',
    `${' '.repeat(200)}1.2.3.4`,
    ':',
    '::%',
  ])('%j is no address', (entry) => expect(readAddress(entry)).toBeNull());

  it('has one spelling only', () => {
    for (const address of ['1.2.3.4', '2001:db8::1', '::1', '64:ff9b::808:808']) {
      expect(canonicalAddress(canonicalAddress(address)!)).toBe(address);
    }
  });
});

describe('the IPv4 address inside an IPv6 one', () => {
  it.each([
    ['64:ff9b::8.8.4.4', '8.8.4.4'],
    ['64:ff9b::808:0', '8.8.0.0'],
    ['2002:808:404::1', '8.8.4.4'],
    ['2002:808:404:1:2:3:4:5', '8.8.4.4'],
    ['2002:808::1', '8.8.0.0'],
    ['64:ff9b:1::808:808', null],
    ['64:ff9b::1:808:808', null],
    ['2001:808:404::1', null],
    ['2002::1', null],
  ])('%s stands for %s', (address, ipv4) => {
    expect(embeddedIpv4(canonicalAddress(address)!)).toBe(ipv4);
  });
});
