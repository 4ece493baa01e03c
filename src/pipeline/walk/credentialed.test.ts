import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { RecordingCaller } from '../../../tests/support/played-relay.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { CredentialFault } from '../../upstream/credentials/credentials.js';
import { credentialed } from './credentialed.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const budgets = { firstByteMs: 10, idleMs: 20, overallMs: 1_000, overallNamedMs: 2_000 };

describe('credentials that must first be obtained', () => {
  it('cost the attempt the time that they took', async () => {
    const clock = new ManualClock();
    let give = (_: readonly string[]) => {};
    const obtaining = new Promise<readonly string[]>((resolve) => {
      give = resolve;
    });
    const caller = new RecordingCaller();
    const waiting = credentialed(clock, caller, route, obtaining, budgets);
    clock.advance(300);
    give(['a', 'b']);
    expect(await waiting).toEqual({ headers: ['a', 'b'], budgets: { ...budgets, overallMs: 700 } });
    expect(caller.onGone).toBeNull();
  });

  it('that cannot be obtained are a failure of the provider, in our own words (ruling 4)', async () => {
    const failing = Promise.reject(new CredentialFault('its AWS session has expired'));
    expect(await credentialed(new ManualClock(), new RecordingCaller(), route, failing, budgets)).toEqual({
      kind: 'failure',
      failure: {
        meaning: 'auth',
        status: null,
        quote: 'the credentials of acme are not usable: its AWS session has expired',
      },
    });
  });

  it('are not waited for when the caller has left (ruling 8)', async () => {
    const never = new Promise<readonly string[]>(() => {});
    const caller = new RecordingCaller();
    const waiting = credentialed(new ManualClock(), caller, route, never, budgets);
    caller.onGone!();
    expect(await waiting).toEqual({ kind: 'gone' });
    const gone = Object.assign(new RecordingCaller(), { gone: true });
    expect(await credentialed(new ManualClock(), gone, route, never, budgets)).toEqual({ kind: 'gone' });
  });

  it('hide no fault of ours', async () => {
    const broken = Promise.reject(new TypeError('ours'));
    await expect(credentialed(new ManualClock(), new RecordingCaller(), route, broken, budgets)).rejects.toThrow(
      'ours',
    );
  });
});
