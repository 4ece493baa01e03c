import { describe, expect, it } from 'vitest';
import { atEndOfTurn, inLaterTurn, takesTurn } from './turn.js';

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('the end of a turn', () => {
  it('does the stages in their order, whatever the order in which work came', async () => {
    const done: string[] = [];
    for (const stage of ['sends', 'records', 'releases', 'requests', 'answers', 'requests'] as const) {
      atEndOfTurn(stage, () => done.push(stage));
    }
    expect(done).toEqual([]);
    await turn();
    expect(done).toEqual(['requests', 'requests', 'answers', 'releases', 'records', 'sends']);
  });

  it('follows up promises that a stage has resolved before the next stage, in the same turn', async () => {
    const done: string[] = [];
    const request = new Promise<void>((resolve) => atEndOfTurn('requests', resolve));
    const followed = request.then(() => atEndOfTurn('sends', () => done.push('sent')));
    let turns = 0;
    setImmediate(() => turns++);
    await followed;
    atEndOfTurn('records', () => done.push('recorded'));
    await turn();
    expect(done).toEqual(['recorded', 'sent']);
  });

  it('runs the rest when one of them throws', async () => {
    const done: number[] = [];
    const thrown = new Promise((resolve) => process.once('uncaughtException', resolve));
    const listeners = process.listeners('uncaughtException').slice(0, -1);
    for (const listener of listeners) process.off('uncaughtException', listener);
    atEndOfTurn('records', () => {
      throw new Error('broken');
    });
    atEndOfTurn('records', () => done.push(1));
    expect(String(await thrown)).toBe('Error: broken');
    for (const listener of listeners) process.on('uncaughtException', listener);
    await turn();
    expect(done).toEqual([1]);
  });

  it('keeps what comes too late for its stage for the next turn', async () => {
    const done: string[] = [];
    atEndOfTurn('sends', () => {
      done.push('first');
      atEndOfTurn('requests', () => done.push('second'));
    });
    await turn();
    await turn();
    expect(done).toEqual(['first', 'second']);
  });
});

describe('work that many connections have at once', () => {
  it('is done at once for 32 of them, then for 32 in each turn, in order', async () => {
    const done: number[] = [];
    for (let i = 0; i < 100; i++) {
      if (takesTurn()) done.push(i);
      else inLaterTurn(() => done.push(i));
    }
    const counts: number[] = [];
    for (let turns = 0; turns < 4; turns++) {
      counts.push(done.length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(counts).toEqual([32, 64, 96, 100]);
    expect(done).toEqual(Array.from({ length: 100 }, (_, i) => i));
    await turn();
    expect(takesTurn()).toBe(true);
  });
});
