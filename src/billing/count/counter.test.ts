import { describe, expect, it } from 'vitest';
import { TokenCounter } from './counter.js';

describe('the token counter', () => {
  /** Threads run compiled files. From sources there is none, which counts as a lost thread. */
  it('gives delivered text away to nobody, and charges no guess, also when its thread cannot be had', async () => {
    const counter = new TokenCounter();
    const members = '"messages":[{"role":"user","content":"hi"}]';
    const counted = await counter.count({ members, encoding: 'latin1', delivered: 'six words are at least six' });
    expect(counted).toEqual({ promptTokens: 3, completionTokens: 6, isEstimate: true });
    const piece = await counter.countPiece(Buffer.from('three more words'));
    expect(piece).toEqual({ tokens: 3, rest: '', isEstimate: true });
    await counter.close();
  });
});
