import { describe, expect, it } from 'vitest';
import { type Member, MemberList, RecentMap } from './collections.js';

const member = (): Member => ({ index: -1 });

describe('a member list', () => {
  it('holds each member once, and those that were not removed', () => {
    const list = new MemberList<Member>();
    const [a, b, c] = [member(), member(), member()];
    for (const one of [a, b, b, c]) list.add(one);
    expect(list.size).toBe(3);
    list.delete(a);
    list.delete(a);
    expect(new Set(list.all())).toEqual(new Set([b, c]));
    list.delete(c);
    list.delete(b);
    expect(list.all()).toEqual([]);
    list.add(a);
    expect(list.all()).toEqual([a]);
  });

  it('may lose members while it is gone through', () => {
    const list = new MemberList<Member>();
    const members = [member(), member(), member()];
    for (const one of members) list.add(one);
    const seen = list.all().map((one) => {
      list.delete(one);
      return one;
    });
    expect(seen).toEqual(members);
    expect(list.size).toBe(0);
  });
});

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
