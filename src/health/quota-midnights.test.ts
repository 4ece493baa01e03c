import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { silentLogger as logger } from '../base/logger.js';
import { secondsToMidnightUtc } from '../base/time.js';
import { QuotaHolds } from './quota-holds.js';

const route = 'acme/meta/llama/defra';
const dayMs = 86_400_000;
const zone = process.env.TZ;

/** Setting the variable changes this process's local time, which the first test proves. */
const zones: [string, string][] = [
  ['Asia/Shanghai', '2026-07-01T20:00'],
  ['America/New_York', '2026-07-01T08:00'],
  ['Asia/Kolkata', '2026-07-01T17:30'],
  ['Pacific/Apia', '2026-07-02T01:00'],
  ['Europe/Berlin', '2026-07-01T14:00'],
];

afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

function localTime(iso: string): string {
  const time = new Date(iso);
  const two = (number: number) => String(number).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The date by another way of calculating than the code's. */
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const nextMidnight = (ms: number): number => Date.parse(`${dateOf(ms + dayMs)}T00:00:00Z`);

describe.each(zones)('in the time zone %s', (name, localNoonUtc) => {
  it('local time is that of the zone', () => {
    process.env.TZ = name;
    expect(localTime('2026-07-01T12:00:00Z')).toBe(localNoonUtc);
  });

  it('holds over 2,000 midnights: exactly on their UTC day, whatever the clock does; Retry-After 1 to 86400', () => {
    process.env.TZ = name;
    const random = new SeededRandom(2026);
    // 2,000 days contain eleven changes to or from summer time in the zones that have it.
    let midnight = Date.parse('2024-03-01T00:00:00Z');
    for (let i = 0; i < 2000; i++, midnight += dayMs) {
      const clock = new ManualClock(midnight - 1 - random.below(random.chance(0.5) ? 3000 : dayMs - 1));
      const holds = new QuotaHolds({ store: new MemoryStore().holds, clock, logger });
      const day = dateOf(clock.now());
      holds.hold(route, 'upstream');
      for (let step = 0; step < 12; step++) {
        check(holds, clock, day);
        clock.setWall(midnight + random.pick([-1, 0, 1, -2000, 2000, -dayMs, -dayMs - 1, dayMs, wander(random)]));
      }
    }
  });

  it('23:59:58 → 00:00:02 → 23:59:59 → 00:00:00: released once for the new day, held again on the old one', () => {
    process.env.TZ = name;
    const clock = new ManualClock('2026-03-28T23:59:58Z');
    const holds = new QuotaHolds({ store: new MemoryStore().holds, clock, logger });
    holds.hold(route, 'upstream');
    const seen: [boolean, number][] = [];
    for (const time of ['2026-03-28T23:59:58', '2026-03-29T00:00:02', '2026-03-28T23:59:59', '2026-03-29T00:00:00']) {
      clock.setWall(`${time}Z`);
      seen.push([holds.isHeld(route), secondsToMidnightUtc(clock.now())]);
    }
    expect(seen).toEqual([
      [true, 2],
      [false, 86_398],
      [true, 1],
      [false, 86_400],
    ]);
  });
});

const wander = (random: SeededRandom): number => random.below(4 * dayMs) - 2 * dayMs;

function check(holds: QuotaHolds, clock: ManualClock, day: string): void {
  const now = clock.now();
  const held = dateOf(now) === day;
  const seconds = secondsToMidnightUtc(now);
  const right =
    holds.isHeld(route) === held &&
    holds.heldUntil(route) === (held ? nextMidnight(now) : null) &&
    Number.isInteger(seconds) &&
    seconds >= 1 &&
    seconds <= 86_400 &&
    now + seconds * 1000 >= nextMidnight(now) &&
    now + (seconds - 1) * 1000 < nextMidnight(now);
  if (!right) expect.fail(`held on ${day}; wrong at ${new Date(now).toISOString()}, Retry-After ${seconds}`);
}
