import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { silentLogger } from '../../base/logger.js';
import { ExpirySweeper } from './expiry-sweeper.js';

function fixture(expiries: number[]) {
  const clock = new ManualClock(1000);
  const alive = new Set(expiries);
  const timers: { delayMs: number; fire: () => void; cancelled: boolean }[] = [];
  const state = { away: false, sweeps: 0 };
  const keys = {
    eraseExpired: async (now: number) => {
      state.sweeps++;
      if (state.away) throw new Error('away');
      const due = [...alive].filter((at) => at <= now);
      for (const at of due) alive.delete(at);
      return due.length;
    },
    nextExpiry: async (now: number) => [...alive].filter((at) => at > now).sort((a, b) => a - b)[0] ?? null,
  };
  const sweeper = new ExpirySweeper(keys, clock, silentLogger, (delayMs, callback) => {
    const timer = { delayMs, fire: callback, cancelled: false };
    timers.push(timer);
    return () => {
      timer.cancelled = true;
    };
  });
  const armed = () => timers.filter((timer) => !timer.cancelled).at(-1)!;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, alive, sweeper, armed, settle, state, timers };
}

describe('erasing expired keys at rest', () => {
  it('erases what expired while the process was down, at its start', async () => {
    const { sweeper, alive } = fixture([500, 5000]);
    await sweeper.start();
    expect([...alive]).toEqual([5000]);
  });

  it('wakes at the next expiry and erases it then', async () => {
    const { sweeper, alive, armed, clock, settle } = fixture([5000, 9000]);
    await sweeper.start();
    expect(armed().delayMs).toBe(4000);
    clock.advance(4000);
    armed().fire();
    await settle();
    expect([...alive]).toEqual([9000]);
    expect(armed().delayMs).toBe(4000);
  });

  it('wakes earlier for a new key that expires earlier', async () => {
    const { sweeper, armed } = fixture([50_000]);
    await sweeper.start();
    sweeper.noteNewKey(3000);
    expect(armed().delayMs).toBe(2000);
    sweeper.noteNewKey(8000);
    sweeper.noteNewKey(null);
    expect(armed().delayMs).toBe(2000);
  });

  it('never asks for a delay that a timer cannot hold', async () => {
    const { sweeper, armed } = fixture([400 * 86_400_000]);
    await sweeper.start();
    expect(armed().delayMs).toBe(86_400_000);
  });

  it('sweeps when a request shows an expired key; a flood of them costs two sweeps', async () => {
    const { sweeper, alive, clock, settle, state } = fixture([2000]);
    await sweeper.start();
    clock.advance(1000);
    for (let i = 0; i < 100; i++) sweeper.noteExpiredKey();
    await settle();
    expect([...alive]).toEqual([]);
    expect(state.sweeps).toBe(1 + 2);
  });

  it('tries again after the store was away', async () => {
    const { sweeper, alive, armed, settle, state } = fixture([500]);
    state.away = true;
    await sweeper.start();
    expect(armed().delayMs).toBe(30_000);
    state.away = false;
    armed().fire();
    await settle();
    expect([...alive]).toEqual([]);
  });

  it('leaves no timer behind when stopped', async () => {
    const { sweeper, timers } = fixture([5000]);
    await sweeper.start();
    sweeper.stop();
    sweeper.noteNewKey(2000);
    expect(timers.every(({ cancelled }) => cancelled)).toBe(true);
  });
});
