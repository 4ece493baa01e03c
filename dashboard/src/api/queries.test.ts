import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPage, queryClient } from './queries.js';

afterEach(() => {
  vi.useRealTimers();
  queryClient.clear();
});

describe('what a page has read', () => {
  it('is not read again by its parts, and is read again by the next page, also within the same second', async () => {
    vi.useFakeTimers();
    const queryFn = vi.fn(async () => 'read');
    const read = () => queryClient.prefetchQuery({ queryKey: ['usage'], queryFn });
    openPage('/usage');
    await read();
    openPage('/usage');
    await read();
    expect(queryFn).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    openPage('/aliases');
    openPage('/usage');
    await read();
    expect(queryFn).toHaveBeenCalledTimes(2);
  });
});
