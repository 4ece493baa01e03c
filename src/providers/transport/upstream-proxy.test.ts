import { expect, it } from 'vitest';
import { addressOf } from './upstream-address.js';
import { proxiesOf } from './upstream-proxy.js';

const both = { HTTPS_PROXY: 'http://secure.proxy:3128', HTTP_PROXY: 'plain.proxy' };

function chosen(env: Record<string, string>, address: string): string | null {
  const proxy = proxiesOf(env)(addressOf(address));
  return proxy && `${proxy.host}:${proxy.port}`;
}

it('the scheme of the upstream chooses the variable, and the lower-case name wins', () => {
  expect(chosen(both, 'https://api.acme.test/v1')).toBe('secure.proxy:3128');
  expect(chosen(both, 'http://api.acme.test/v1')).toBe('plain.proxy:80');
  expect(chosen({ ...both, https_proxy: 'https://other.proxy' }, 'https://api.acme.test')).toBe('other.proxy:443');
  expect(chosen({ HTTP_PROXY: 'plain.proxy' }, 'https://api.acme.test')).toBe(null);
  expect(chosen({ HTTPS_PROXY: ' ' }, 'https://api.acme.test')).toBe(null);
});

it.each(['https://localhost:9000', 'https://127.0.0.3', 'https://[::1]:8443'])('%s is called directly', (address) => {
  expect(chosen(both, address)).toBe(null);
});

it.each([
  ['*', 'https://api.acme.test', true],
  ['acme.test', 'https://acme.test', true],
  ['acme.test', 'https://api.acme.test', true],
  ['.acme.test', 'https://api.acme.test', true],
  ['*.acme.test', 'https://api.acme.test', true],
  ['acme.test', 'https://otheracme.test', false],
  ['acme.test:8443', 'https://acme.test:8443', true],
  ['acme.test:8443', 'https://acme.test', false],
  ['x.test ACME.test', 'https://api.acme.test', true],
  ['10.0.0.0/8', 'https://10.1.2.3', true],
  ['10.0.0.0/8', 'https://11.1.2.3', false],
  ['fd00::/8', 'https://[fd00::1]', true],
  ['[fd00::1]:443', 'https://[fd00::1]', true],
  ['', 'https://acme.test', false],
])('NO_PROXY=%s exempts %s: %s', (list, address, exempt) => {
  expect(chosen({ ...both, NO_PROXY: list }, address) === null).toBe(exempt);
});

it.each(['socks5://proxy:1080', 'http://', 'http://user:secret@[::'])(
  '%s stops the start without being quoted',
  (text) => {
    expect(() => proxiesOf({ HTTPS_PROXY: text })).toThrow(
      'environment: HTTPS_PROXY: found a text, expected an http:// or https:// address of a proxy',
    );
  },
);
