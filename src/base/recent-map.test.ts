import { describe, expect, it } from 'vitest';
import { RecentMap } from './recent-map.js';

describe('a map of recent answers', () => {
  it('never holds more than two generations', () => {
    const map = new RecentMap<number>(100);
    for (let i = 0; i < 10_000; i++) {
      map.set(`key ${i}`, i);
      expect(map.size).toBeLessThanOrEqual(200);
    }
    expect(map.get('key 9999')).toBe(9999);
    expect(map.get('key 0')).toBeUndefined();
  });

  it('keeps what is asked for while others come and go', () => {
    const map = new RecentMap<number>(10);
    map.set('kept', 1);
    for (let i = 0; i < 1000; i++) {
      map.set(`other ${i}`, i);
      expect(map.get('kept')).toBe(1);
    }
  });
});
