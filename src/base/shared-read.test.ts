import { describe, expect, it } from 'vitest';
import { SharedRead } from './shared-read.js';

function readings() {
  let begun = 0;
  const ends: (() => void)[] = [];
  const read = new SharedRead(() => {
    const number = ++begun;
    return new Promise<number>((resolve, reject) => {
      ends.push(() => (number === 99 ? reject(new Error('never')) : resolve(number)));
    });
  });
  return { read, ends, begun: () => begun };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a shared read', () => {
  it('gives nobody what was read from before he asked, and reads at most twice for any number', async () => {
    const { read, ends, begun } = readings();
    const first = read.ask();
    const later = Array.from({ length: 100 }, () => read.ask());
    expect(begun()).toBe(1);
    ends[0]!();
    expect(await first).toBe(1);
    await turn();
    expect(begun()).toBe(2);
    ends[1]!();
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
    expect(read.idle).toBe(true);
  });

  it('goes on after a failure: each gets its own read’s', async () => {
    let fail = true;
    const read = new SharedRead(async () => {
      await turn();
      if (fail) throw new Error('away');
      return 'there';
    });
    const first = read.ask();
    const second = read.ask();
    await expect(first).rejects.toThrow('away');
    fail = false;
    expect(await second).toBe('there');
  });
});
