import { describe, expect, it } from 'vitest';
import { atEndOfTurn } from './turn.js';

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('the end of a turn', () => {
  it('does the stages in their order, whatever the order in which work came', async () => {
    const done: string[] = [];
    for (const stage of ['sends', 'records', 'requests', 'answers', 'requests'] as const) {
      atEndOfTurn(stage, () => done.push(stage));
    }
    expect(done).toEqual([]);
    await turn();
    expect(done).toEqual(['requests', 'requests', 'answers', 'records', 'sends']);
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
