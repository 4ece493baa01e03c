import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { newTrail } from '../exchange.js';
import { reserveRecords } from './attempt-record.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const free = { ...route, price: { input: 0n, output: 0n, cachedInput: null } };

describe('room for the records of a request', () => {
  it('is reserved for every attempt that may cost money, more for a stream, and counted until the request is over', () => {
    const reserved: number[] = [];
    const journal = { reserve: (bytes: number) => reserved.push(bytes) > 0 };
    const trail = newTrail();
    expect(reserveRecords(journal, trail, route, false)).toBe(true);
    expect(reserveRecords(journal, trail, route, false)).toBe(true);
    expect(trail.reservedBytes).toBe(reserved[0]! + reserved[1]!);
    const streamed = newTrail();
    reserveRecords(journal, streamed, route, true);
    expect(streamed.reservedBytes).toBeGreaterThan(reserved[0]!);
  });

  it('is not needed on a free route, and without it nothing else is forwarded', () => {
    const journal = { reserve: () => false };
    const trail = newTrail();
    expect([reserveRecords(journal, trail, free, false), reserveRecords(journal, trail, route, false)]).toEqual([
      true,
      false,
    ]);
    expect(trail.reservedBytes).toBe(0);
  });
});
