import { describe, expect, it } from 'vitest';
import { addressOf, requestTarget } from './upstream-address.js';

describe('the address of a route', () => {
  it.each([
    ['http://a.example', '/x', '/x'],
    ['http://a.example/v1/', '/x', '/v1/x'],
    ['http://a.example/v1', '/x?alt=sse', '/v1/x?alt=sse'],
    ['http://a.example/v1?k=1', '/x', '/v1/x?k=1'],
    ['http://a.example/v1?k=1&l=2', '/x?alt=sse', '/v1/x?alt=sse&k=1&l=2'],
  ])('%s with the path %s is called at %s', (baseUrl, path, target) => {
    expect(requestTarget(addressOf(baseUrl), path)).toBe(target);
  });

  it('tells where to connect, and what to call it', () => {
    expect(addressOf('https://[::1]:8443/v1')).toMatchObject({
      secure: true,
      hostname: '::1',
      host: '[::1]:8443',
      port: 8443,
    });
    expect(addressOf('http://a.example').port).toBe(80);
    expect(addressOf('https://a.example').port).toBe(443);
  });
});
