/** What a call shows, where it must first be obtained: the walk waits for it, but no longer than its budgets and its caller do. */
import type { Clock } from '../../base/time.js';
import type { Route } from '../../catalogue/route.js';
import type { Budgets, CallPorts } from '../../providers/call.js';
import { expiredBudget } from '../../providers/call-failure.js';
import type { Failure } from '../../providers/classify/failure.js';
import { CredentialFault } from '../../providers/credentials/credentials.js';
import type { Watched } from '../../providers/transport/deadlines.js';
import type { Caller } from '../caller.js';

export interface Credentialed {
  headers: readonly string[];
  /** With what was waited. */
  budgets: Budgets;
}

export type NotCredentialed = { kind: 'failure'; failure: Failure } | { kind: 'gone' };

export interface WaitPorts {
  readonly clock: Clock;
  readonly deadlines: Pick<CallPorts['deadlines'], 'watch' | 'unwatch'>;
}

export async function credentialed(
  { clock, deadlines }: WaitPorts,
  caller: Pick<Caller, 'gone' | 'onGone'>,
  route: Route,
  obtaining: Promise<readonly string[]>,
  budgets: Budgets,
): Promise<Credentialed | NotCredentialed> {
  const { provider } = route;
  const startedAtMs = clock.monotonicMs();
  const deadlineMs = startedAtMs + Math.min(budgets.firstByteMs, budgets.overallMs);
  const watched: Watched = { deadlineMs, expire: () => {} };
  const left = new Promise<NotCredentialed>((resolve) => {
    watched.expire = () => resolve({ kind: 'failure', failure: expired(budgets) });
    caller.onGone = () => resolve({ kind: 'gone' });
    if (caller.gone) resolve({ kind: 'gone' });
  });
  deadlines.watch(watched);
  try {
    const shown = await Promise.race([obtaining, left]);
    if ('kind' in shown) return shown;
    return { headers: shown, budgets: { ...budgets, spentMs: clock.monotonicMs() - startedAtMs } };
  } catch (error) {
    if (!(error instanceof CredentialFault)) throw error;
    // Bad credentials of ours count against the route.
    const quote = `the credentials of ${provider.id} are not usable: ${error.message}`;
    return { kind: 'failure', failure: { meaning: 'auth', status: null, quote } };
  } finally {
    deadlines.unwatch(watched);
    caller.onGone = null;
  }
}

/** A budget covers all of an attempt, whatever it waits for. */
function expired({ firstByteMs, overallMs, overallNamedMs }: Budgets): Failure {
  const spent =
    overallMs <= firstByteMs
      ? ({ budget: 'overall', budgetMs: overallNamedMs } as const)
      : ({ budget: 'first-byte', budgetMs: firstByteMs } as const);
  return expiredBudget({ status: null, ...spent });
}
