import { expect, it } from 'vitest';
import { FewAtATime } from './few-at-a-time.js';

it('runs no more than it may, in the order of arrival, also when one fails, and refuses what would wait too long', async () => {
  const lane = new FewAtATime(2, 2);
  const finish: (() => void)[] = [];
  const events: string[] = [];
  const work = (name: string) =>
    lane.run(async () => {
      events.push(name);
      await new Promise<void>((resolve) => finish.push(resolve));
      if (name === 'b') throw new Error(name);
    });
  const all = ['a', 'b', 'c', 'd'].map(work);
  const refused = work('e');
  await expect(refused).rejects.toMatchObject({ condition: 'too_many_attempts', extras: { retryAfterSeconds: 10 } });
  expect(events).toEqual(['a', 'b']);
  finish[1]!();
  await expect(all[1]).rejects.toThrow('b');
  expect(events).toEqual(['a', 'b', 'c']);
  finish[0]!();
  finish[2]!();
  await Promise.all([all[0], all[2]]);
  expect(events).toEqual(['a', 'b', 'c', 'd']);
  finish[3]!();
  await all[3];
});
