import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { RecordingCaller } from '../../../tests/support/played-relay.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { CredentialFault } from '../../providers/credentials/credentials.js';
import type { Watched } from '../../providers/transport/deadlines.js';
import { waitForCredentials } from './wait-for-credentials.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const budgets = { firstByteMs: 500, idleMs: 20, overallMs: 1_000, overallNamedMs: 2_000 };
const never = new Promise<readonly string[]>(() => {});

/** Time that is up when the test says so. */
function waitPorts(clock = new ManualClock()) {
  const watched = new Set<Watched>();
  const deadlines = {
    watch: (item: Watched) => void watched.add(item),
    unwatch: (item: Watched) => void watched.delete(item),
  };
  return { clock, deadlines, watched };
}

describe('credentials that must first be obtained', () => {
  it('cost the attempt the time that they took', async () => {
    const { clock, watched, ...rest } = waitPorts();
    let give = (_: readonly string[]) => {};
    const obtaining = new Promise<readonly string[]>((resolve) => {
      give = resolve;
    });
    const caller = new RecordingCaller();
    const waiting = waitForCredentials(
      { clock, ...rest },
      { exchange: { caller: caller }, route, budgets: budgets },
      obtaining,
    );
    clock.advance(300);
    give(['a', 'b']);
    expect(await waiting).toEqual({ headers: ['a', 'b'], budgets: { ...budgets, spentMs: 300 } });
    expect([caller.onGone, watched.size]).toEqual([null, 0]);
  });

  it.each([
    ['first-byte', 500, budgets, 500],
    ['overall', 200, { ...budgets, overallMs: 200 }, 2_000],
  ])('are waited for no longer than the %s budget allows, whatever hangs', async (name, deadline, within, ms) => {
    const { clock, watched, ...rest } = waitPorts();
    const startedAtMs = clock.monotonicMs();
    const waiting = waitForCredentials(
      { clock, ...rest },
      { exchange: { caller: new RecordingCaller() }, route, budgets: within },
      never,
    );
    const [item] = watched;
    expect(item!.deadlineMs - startedAtMs).toBe(deadline);
    item!.expire(item!.deadlineMs);
    expect(await waiting).toMatchObject({ kind: 'failure', failure: { meaning: 'timeout', budget: { name, ms } } });
  });

  it('that cannot be obtained are a failure of the provider, in our own words', async () => {
    const failing = Promise.reject(new CredentialFault('its AWS session has expired'));
    expect(
      await waitForCredentials(
        waitPorts(),
        { exchange: { caller: new RecordingCaller() }, route, budgets: budgets },
        failing,
      ),
    ).toEqual({
      kind: 'failure',
      failure: {
        meaning: 'auth',
        status: null,
        quote: 'the credentials of acme are not usable: its AWS session has expired',
      },
    });
  });

  it('are not waited for when the caller has left', async () => {
    const caller = new RecordingCaller();
    const waiting = waitForCredentials(waitPorts(), { exchange: { caller: caller }, route, budgets: budgets }, never);
    caller.onGone!();
    expect(await waiting).toEqual({ kind: 'gone' });
    const gone = Object.assign(new RecordingCaller(), { gone: true });
    expect(
      await waitForCredentials(waitPorts(), { exchange: { caller: gone }, route, budgets: budgets }, never),
    ).toEqual({ kind: 'gone' });
  });

  it('hide no fault of ours', async () => {
    const broken = Promise.reject(new TypeError('ours'));
    await expect(
      waitForCredentials(waitPorts(), { exchange: { caller: new RecordingCaller() }, route, budgets: budgets }, broken),
    ).rejects.toThrow('ours');
  });
});
