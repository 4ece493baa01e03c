import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AnswerWatch, type Ask } from './answer-watch.js';

function watched() {
  const overdue: number[] = [];
  const watch: AnswerWatch = new AnswerWatch((waitMs) => {
    overdue.push(waitMs);
    watch.drop();
  });
  return { watch, overdue };
}

function standStill(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

describe('the watch over answers', () => {
  it('says when an answer is overdue, and lets go everybody who waits', async () => {
    const { watch, overdue } = watched();
    const first = new Promise((resolve) => watch.add(resolve, 20));
    const second = new Promise((resolve) => watch.add(resolve, 10_000));
    expect(await Promise.all([first, second])).toEqual([null, null]);
    expect(overdue).toEqual([20]);
  });

  it('watches what is due first, whatever was asked first', async () => {
    const { watch, overdue } = watched();
    const long = new Promise((resolve) => watch.add(resolve, 10_000));
    watch.add(() => {}, 20);
    await long;
    expect(overdue).toEqual([20]);
  });

  it('says nothing where everything has been answered, and keeps no timer', async () => {
    const { watch, overdue } = watched();
    for (let i = 0; i < 50; i++) {
      const ask = watch.add(() => {}, 20);
      await pause(1);
      expect(watch.answered(ask)).toBe(true);
    }
    await pause(40);
    expect(overdue).toEqual([]);
  });

  it('takes an answer that is there already, and unread because this process was busy, for one in time', async () => {
    const { watch, overdue } = watched();
    const ask = watch.add(() => {}, 20);
    // Stands for a socket that is readable when the process gets to it: read after the timers, before the next immediates.
    setImmediate(() => watch.answered(ask));
    standStill(60);
    await pause(50);
    expect(overdue).toEqual([]);
  });

  it('grants the wait once more, and only once, where this process stood still', async () => {
    const { watch, overdue } = watched();
    const startMs = performance.now();
    const answer = new Promise((resolve) => watch.add(resolve, 30));
    standStill(60);
    expect(await answer).toBe(null);
    expect(overdue).toEqual([30]);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(60 + 30 - 1);
  });

  it('knows an answer that comes too late', async () => {
    const { watch } = watched();
    let ask: Ask | undefined;
    await new Promise((resolve) => {
      ask = watch.add(resolve, 5);
    });
    expect(watch.answered(ask!)).toBe(false);
  });
});
