import { describe, expect, it } from 'vitest';
import { type Member, MemberList } from './member-list.js';

const member = (): Member => ({ place: -1 });

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
