/** What a call shows, where it must first be obtained: the walk waits for it, but not longer than its caller does. */
import type { Clock } from '../../base/clock.js';
import type { Route } from '../../catalogue/route.js';
import type { Budgets } from '../../upstream/call.js';
import { CredentialFault } from '../../upstream/credentials/credentials.js';
import type { Failure } from '../../upstream/failure.js';
import type { Caller } from '../caller.js';

export interface Credentialed {
  headers: readonly string[];
  /** Less what was waited. */
  budgets: Budgets;
}

export type NotCredentialed = { kind: 'failure'; failure: Failure } | { kind: 'gone' };

export async function credentialed(
  clock: Clock,
  caller: Pick<Caller, 'gone' | 'onGone'>,
  { provider }: Route,
  obtaining: Promise<readonly string[]>,
  budgets: Budgets,
): Promise<Credentialed | NotCredentialed> {
  const startedAtMs = clock.monotonicMs();
  const left = new Promise<null>((resolve) => {
    caller.onGone = () => resolve(null);
    if (caller.gone) resolve(null);
  });
  try {
    const headers = await Promise.race([obtaining, left]);
    if (headers === null) return { kind: 'gone' };
    return { headers, budgets: { ...budgets, overallMs: budgets.overallMs - (clock.monotonicMs() - startedAtMs) } };
  } catch (error) {
    if (!(error instanceof CredentialFault)) throw error;
    // Bad credentials of ours count against the route (ruling 4).
    const quote = `the credentials of ${provider.id} are not usable: ${error.message}`;
    return { kind: 'failure', failure: { meaning: 'auth', status: null, quote } };
  } finally {
    caller.onGone = null;
  }
}
