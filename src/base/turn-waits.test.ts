import { describe, expect, it } from 'vitest';
import { andThen, isPending } from './turn.js';

describe('andThen', () => {
  it('goes on at once with a value that is there', () => {
    expect(andThen(2, (value) => value + 1)).toBe(3);
  });

  it('waits for a value that comes later', async () => {
    const sum = andThen(Promise.resolve(2), (value) => value + 1);
    expect(isPending(sum)).toBe(true);
    expect(await sum).toBe(3);
  });

  it('throws at once what the next step throws, and rejects with it where it had to wait', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    expect(() => andThen(1, fail)).toThrow('no');
    await expect(andThen(Promise.resolve(1), fail)).rejects.toThrow('no');
  });
});
