/** What every implementation of the counters port promises, in one suite: run it against memory and whatever comes after. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Counters, Take } from '../../src/cluster/ports.js';

export interface CountersUnderTest {
  counters: Counters;
  windowMs: number;
  /** Time passes for the counters: by an injected clock, or by waiting. */
  pass(ms: number): void | Promise<void>;
}

/** `retry`: for counters that are exact only while something outside of the process answers in time. */
export function describeCounters(
  name: string,
  create: () => CountersUnderTest | Promise<CountersUnderTest>,
  { retry = 0 }: { retry?: number } = {},
): void {
  describe(name, { retry }, () => {
    let subject: CountersUnderTest;
    beforeEach(async () => {
      subject = await create();
    });

    const take = async (counter: string, amount: number, limit: number): Promise<Take> =>
      subject.counters.take(counter, amount, limit);
    const nextWindow = async () => subject.pass(subject.windowMs);

    it('admits exactly the limit of takes that come together, in window after window', async () => {
      for (let window = 0; window < 3; window++) {
        const takes = await Promise.all(Array.from({ length: 300 }, () => take('k', 1, 100)));
        expect(takes.filter(({ admitted }) => admitted)).toHaveLength(100);
        await nextWindow();
      }
    });

    it('gives what has been used, the own take included, and a refused take changes nothing', async () => {
      expect(await take('k', 3, 10)).toMatchObject({ admitted: true, used: 3 });
      expect(await take('k', 8, 10)).toMatchObject({ admitted: false, used: 3 });
      expect(await take('k', 7, 10)).toMatchObject({ admitted: true, used: 10 });
      expect(await take('k', 1, 10)).toMatchObject({ admitted: false, used: 10 });
      expect(subject.counters.peek('k').used).toBe(10);
    });

    it('takes one oversized amount when the window is empty, and none beside it', async () => {
      expect((await take('k', 50, 10)).admitted).toBe(true);
      expect((await take('k', 1, 10)).admitted).toBe(false);
      await nextWindow();
      await take('k', 1, 10);
      expect((await take('k', 50, 10)).admitted).toBe(false);
    });

    it('keeps counters apart', async () => {
      await take('a', 1, 1);
      expect((await take('a', 1, 1)).admitted).toBe(false);
      expect((await take('b', 1, 1)).admitted).toBe(true);
    });

    it('says in whole milliseconds when the window is over, and admits then', async () => {
      await take('k', 1, 1);
      const { admitted, resetMs } = await take('k', 1, 1);
      expect(admitted).toBe(false);
      expect(resetMs).toBe(Math.round(resetMs));
      expect(resetMs).toBeGreaterThanOrEqual(1);
      expect(resetMs).toBeLessThanOrEqual(subject.windowMs);
      await subject.pass(resetMs);
      expect(await take('k', 1, 1)).toMatchObject({ admitted: true, used: 1 });
    });

    it('does not prolong a window by refused takes', async () => {
      await take('k', 1, 1);
      await subject.pass(subject.windowMs / 2);
      const { resetMs } = await take('k', 1, 1);
      expect(resetMs).toBeLessThanOrEqual(subject.windowMs / 2);
      await subject.pass(resetMs);
      expect((await take('k', 1, 1)).admitted).toBe(true);
    });

    it('takes back and adds within the window that admitted', async () => {
      const taken = await take('k', 4, 10);
      await taken.adjust(-4);
      expect(subject.counters.peek('k').used).toBe(0);
      await (await take('k', 4, 10)).adjust(30);
      expect(subject.counters.peek('k').used).toBe(34);
      expect((await take('k', 1, 10)).admitted).toBe(false);
    });

    it('lets an adjustment that comes too late touch no later window, in neither direction', async () => {
      const more = await take('k', 4, 10);
      const less = await take('k', 4, 10);
      await nextWindow();
      await take('k', 5, 10);
      await more.adjust(100);
      await less.adjust(-4);
      expect(await take('k', 5, 10)).toMatchObject({ admitted: true, used: 10 });
      expect((await take('k', 1, 10)).admitted).toBe(false);
    });

    it('heeds a limit that changes in mid-window', async () => {
      for (let i = 0; i < 5; i++) await take('k', 1, 5);
      expect((await take('k', 1, 5)).admitted).toBe(false);
      expect((await take('k', 1, 6)).admitted).toBe(true);
      expect((await take('k', 1, 2)).admitted).toBe(false);
    });

    it('reads a counter that nobody has used, or whose window is over, as unused', async () => {
      expect(subject.counters.peek('k')).toEqual({ used: 0, resetMs: 0 });
      await take('k', 1, 1);
      await nextWindow();
      expect(subject.counters.peek('k')).toEqual({ used: 0, resetMs: 0 });
    });
  });
}
