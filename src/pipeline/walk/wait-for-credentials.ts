/** The wait of an attempt for credentials that must first be obtained. */
import { quoted } from '../../base/quoted.js';
import type { Clock } from '../../base/time.js';
import type { Route } from '../../catalogue/route.js';
import type { Budgets, CallPorts } from '../../providers/call.js';
import { expiredBudget } from '../../providers/call-failure.js';
import type { Failure } from '../../providers/classify/failure.js';
import { CredentialFault } from '../../providers/credentials/credentials.js';
import type { Watched } from '../../providers/transport/deadlines.js';
import type { Caller } from '../caller.js';

export interface CallCredentials {
  readonly headers: readonly string[];
  /** Includes the time spent waiting for credentials. */
  readonly budgets: Budgets;
}

type NoCredentials = { kind: 'failure'; failure: Failure } | { kind: 'gone' };

interface WaitPorts {
  readonly clock: Clock;
  readonly deadlines: Pick<CallPorts['deadlines'], 'watch' | 'unwatch'>;
}

/** What the caller and the budgets of an attempt are to its wait for credentials. */
interface Waiting {
  readonly exchange: { readonly caller: Pick<Caller, 'gone' | 'onGone'> };
  readonly route: Route;
  readonly budgets: Budgets;
}

/** Waits for credentials that must first be obtained, but no longer than the budgets allow and the caller stays. */
export async function waitForCredentials(
  { clock, deadlines }: WaitPorts,
  { exchange: { caller }, route: { provider, credential }, budgets }: Waiting,
  obtaining: Promise<readonly string[]>,
): Promise<CallCredentials | NoCredentials> {
  const startedAtMs = clock.monotonicMs();
  const deadlineMs = startedAtMs + Math.min(budgets.firstByteMs, budgets.overallMs);
  const watched: Watched = { deadlineMs, expire: () => {} };
  const left = new Promise<NoCredentials>((resolve) => {
    watched.expire = () => resolve({ kind: 'failure', failure: budgetFailure(budgets) });
    caller.onGone = () => resolve({ kind: 'gone' });
    if (caller.gone) resolve({ kind: 'gone' });
  });
  deadlines.watch(watched);
  try {
    const headers = await Promise.race([obtaining, left]);
    if ('kind' in headers) return headers;
    return { headers, budgets: { ...budgets, spentMs: clock.monotonicMs() - startedAtMs } };
  } catch (error) {
    if (!(error instanceof CredentialFault)) throw error;
    // Credentials that are not usable count against the route.
    const quote =
      credential === undefined
        ? `the credentials of ${provider.id} are not usable: ${error.message}`
        : `your credential ${quoted(credential.name)}: ${error.message}`;
    return { kind: 'failure', failure: { meaning: 'auth', status: null, quote } };
  } finally {
    deadlines.unwatch(watched);
    caller.onGone = null;
  }
}

/** A budget covers all of an attempt, whatever it waits for. */
function budgetFailure({ firstByteMs, overallMs, overallNamedMs }: Budgets): Failure {
  const spent =
    overallMs <= firstByteMs
      ? ({ budget: 'overall', budgetMs: overallNamedMs } as const)
      : ({ budget: 'first-byte', budgetMs: firstByteMs } as const);
  return expiredBudget({ status: null, ...spent });
}
