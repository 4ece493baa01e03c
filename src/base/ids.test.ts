import { describe, expect, it } from 'vitest';
import { generationId, IdSequence, requestId, timeOrderedId } from './ids.js';

describe('ids', () => {
  it('are "gen-" and 26 characters', () => {
    expect(generationId(Date.now())).toMatch(/^gen-[0-9a-hjkmnp-tv-z]{26}$/);
    expect(requestId(0)).toMatch(/^req-[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it('sort by time', () => {
    const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000, 2 ** 48 - 1];
    const ids = times.map(timeOrderedId);
    expect([...ids].sort()).toEqual(ids);
  });

  it('never repeat within a millisecond, past the end of the random pool too', () => {
    const ids = new Set(Array.from({ length: 20_000 }, () => timeOrderedId(1_700_000_000_000)));
    expect(ids.size).toBe(20_000);
  });

  it('of one sequence sort in the order in which they were made, also within a millisecond', () => {
    const sequence = new IdSequence();
    const times = [...Array.from({ length: 5_000 }, () => 1_700_000_000_000), 1_700_000_000_001, 1_700_000_000_001];
    const ids = times.map((ms) => sequence.next(ms));
    expect([...ids].sort()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
    expect(sequence.next(1_000).slice(0, 10)).toBe(timeOrderedId(1_000).slice(0, 10));
  });

  it('are made of the time given, also when it steps back', () => {
    const early = timeOrderedId(1_000).slice(0, 10);
    timeOrderedId(2_000);
    expect(timeOrderedId(1_000).slice(0, 10)).toBe(early);
  });
});
