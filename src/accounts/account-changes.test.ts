import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../base/logger.js';
import { StoreUnavailable } from '../storage/store.js';
import { AccountChanges } from './account-changes.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a change that the store did not answer', () => {
  it('is read again after any error of the store, which is logged and does not end the process', async () => {
    const rejections: unknown[] = [];
    const note = (error: unknown) => rejections.push(error);
    process.on('unhandledRejection', note);
    const errors: object[] = [];
    const faults: Error[] = [new Error('column "x" does not exist'), new StoreUnavailable(new Error('gone'))];
    let reads = 0;
    const reread = async () => {
      const fault = faults.shift();
      if (fault) throw fault;
      reads++;
    };
    const logger = { ...silentLogger, error: (fields: object) => errors.push(fields) };
    const changes = new AccountChanges(reread, logger);
    const unanswered = changes.run('acct-1', () => Promise.reject(new StoreUnavailable(new Error('no answer'))));
    await expect(unanswered).rejects.toThrow(StoreUnavailable);
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    // Node reports a rejection that nobody handles at the end of a turn.
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
    expect(errors).toEqual([{ account: 'acct-1', error: 'Error: column "x" does not exist' }]);
    expect(reads).toBe(2);
  });
});
