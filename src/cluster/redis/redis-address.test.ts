import { describe, expect, it } from 'vitest';
import { clientAddress, maskedAddress } from './redis-address.js';

describe('the address of Redis', () => {
  it('is written to logs without its password, whatever characters that has', () => {
    expect(maskedAddress('redis://127.0.0.1:6379/2')).toBe('redis://127.0.0.1:6379/2');
    expect(maskedAddress('rediss://app:p@ss:w/ord?@cache.example:6380/1')).toBe(
      'rediss://app:***@cache.example:6380/1',
    );
    expect(maskedAddress('redis://:secret@h')).toBe('redis://:***@h');
    expect(maskedAddress('unix:/run/redis.sock?db=1&password=secret&username=u')).toBe(
      'unix:/run/redis.sock?db=1&password=***&username=u',
    );
  });

  it('may be a unix socket, in each of its usual forms', () => {
    for (const form of ['/run/redis.sock?db=1', 'unix:/run/redis.sock?db=1', 'unix:///run/redis.sock?db=1']) {
      expect(clientAddress(form)).toBe('/run/redis.sock?db=1');
    }
    expect(clientAddress('redis://h/1')).toBe('redis://h/1');
  });
});
