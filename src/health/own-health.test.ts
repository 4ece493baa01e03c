import { expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { OwnHealth } from './own-health.js';

const credential = { secretKey: 'cred-a', healthKey: 'cred-a acme/meta/llama/defra' };
const config = { failures: 5, windowMs: 30_000, cooldownMs: 30_000, probeMaxMs: 305_000 };

function refusedOnce() {
  const clock = new ManualClock();
  const health = new OwnHealth(clock, config);
  health.refuse(credential);
  return { clock, health };
}

it('a refused credential is tried by `auto/` once a minute, and not by two requests at once', () => {
  const { clock, health } = refusedOnce();
  expect(health.pauseOf(credential)).toBe('credential_failing');
  clock.advance(60_000);
  expect(health.pauseOf(credential)).toBeNull();
  health.tried(credential);
  expect(health.pauseOf(credential)).toBe('credential_failing');
});

it('one that has served again is tried by many requests at once, whatever becomes of them', () => {
  const { clock, health } = refusedOnce();
  health.succeeded(credential, clock.monotonicMs());
  health.tried(credential);
  expect(health.pauseOf(credential)).toBeNull();
});

it('a success ends every pause that it began after, and no other', () => {
  const pauses = [
    (health: OwnHealth) => health.refuse(credential),
    (health: OwnHealth) => health.wait(credential, 5_000),
    (health: OwnHealth) => health.useUp(credential, null),
  ];
  for (const pause of pauses) {
    const clock = new ManualClock();
    const health = new OwnHealth(clock, config);
    const earlier = clock.monotonicMs();
    clock.advance(1);
    pause(health);
    health.succeeded(credential, earlier);
    expect(health.pauseOf(credential)).not.toBeNull();
    health.succeeded(credential, clock.monotonicMs());
    expect(health.pauseOf(credential)).toBeNull();
  }
});
