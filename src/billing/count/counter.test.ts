import { describe, expect, it } from 'vitest';
import { TokenCounter } from './counter.js';

describe('the token counter', () => {
  /** Threads run compiled files. From sources there is none, which counts as a lost thread. */
  it('never gives delivered text away, also when its thread cannot be had', async () => {
    const counter = new TokenCounter();
    const members = '"messages":[{"role":"user","content":"hi"}]';
    const counted = await counter.count({ members, encoding: 'latin1', delivered: 'x'.repeat(401) });
    expect(counted).toEqual({ promptTokens: Math.ceil(members.length / 4), completionTokens: 101 });
    await counter.close();
  });
});
