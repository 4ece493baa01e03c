/** What a customer's own credential changes in the walk: which credential of a route is tried next, and what an attempt shows of one. */
import { quoted } from '../../base/quoted.js';
import type { Route } from '../../catalogue/route.js';
import type { Paused } from '../../health/own-health.js';
import type { Failure, Meaning } from '../../providers/classify/failure.js';
import type { PipelinePorts, Plan } from '../handover.js';
import type { RuledOut } from './obstacles.js';

/** How an attempt ended, as far as its credential is concerned. */
type Ended = { readonly kind: 'failure'; readonly failure: Failure } | { readonly kind: 'answer' | 'stream' | 'gone' };

type Ports = Pick<PipelinePorts, 'own'>;

interface Group {
  readonly group?: readonly Route[];
}

/** A failure for which the credential is to blame, and not the provider: another credential may do better. */
const ofCredential: ReadonlySet<Meaning> = new Set(['auth', 'billing', 'rate_limit', 'quota']);

/** The first candidate of each route, of lists that are kept. */
const headsByGroup = new WeakMap<readonly Route[], readonly Route[]>();

/** The candidate of each route that is tried first. */
export function headsOf(group: readonly Route[]): readonly Route[] {
  let heads = headsByGroup.get(group);
  if (heads === undefined) {
    const ids = new Set<string>();
    heads = group.filter(({ id }) => !ids.has(id) && ids.add(id));
    headsByGroup.set(group, heads);
  }
  return heads;
}

/** The same route with its next credential, after an attempt has failed; null where the route has none, or the failure was the provider's. */
export function afterFailure(task: Group, route: Route, { meaning }: Pick<Failure, 'meaning'>): Route | null {
  if (task.group === undefined) return null;
  return route.credential === undefined || ofCredential.has(meaning) ? nextOf(task.group, route) : null;
}

/** The same after a candidate was not tried. A customer's is replaced only where its credential is the reason. */
export function afterObstacle(task: Group, route: Route, verdict: RuledOut['verdict']): Route | null {
  if (task.group === undefined) return null;
  const isOfCredential = verdict === 'credential_failing' || verdict === 'credential_held';
  return route.credential === undefined || isOfCredential ? nextOf(task.group, route) : null;
}

function nextOf(group: readonly Route[], route: Route): Route | null {
  const next = group[group.indexOf(route) + 1];
  return next !== undefined && next.id === route.id ? next : null;
}

interface Pause {
  readonly verdict: Paused;
  readonly param: null;
}

/** Why `auto/` does not try a customer's credential now. An explicit id tries it all the same. */
export function pauseOf({ own }: Ports, { kind }: Pick<Plan, 'kind'>, { credential }: Route): Pause | null {
  if (credential === undefined || kind === 'pin') return null;
  const verdict = own!.health.pauseOf(credential);
  return verdict === null ? null : { verdict, param: null };
}

/** True where the outcome says all about the credential, and nothing about the route. */
export function learnOfCredential({ own }: Ports, route: Route, outcome: Ended): boolean {
  const credential = route.credential!;
  const { health } = own!;
  if (outcome.kind === 'gone') return false;
  if (outcome.kind !== 'failure') {
    health.succeeded(credential);
    own!.note(route, null);
    return false;
  }
  const { meaning, disputed, retryAfterMs = null, quote, status } = outcome.failure;
  if (disputed || !ofCredential.has(meaning)) return false;
  if (meaning === 'auth') {
    // 407 is of a proxy, 451 of a country.
    if (status === 407 || status === 451) return false;
    health.refuse(credential);
    own!.note(route, quote.replace(prefixOf(credential.name), ''));
  } else if (meaning === 'quota') health.useUp(credential, retryAfterMs);
  else if (meaning === 'rate_limit' && retryAfterMs !== null) health.wait(credential, retryAfterMs);
  return true;
}

const prefixOf = (name: string): string => `your credential ${quoted(name)}: `;

/** The failure without anything of the secret, and with the name of the credential where its owner can do something about it. */
export function ownFailure({ own }: Ports, route: Route, failure: Failure): Failure {
  const { credential } = route;
  if (credential === undefined) return failure;
  const quote = own!.mask(route, failure.quote);
  const { details: _, ...rest } = failure;
  return { ...rest, quote: ofCredential.has(failure.meaning) ? prefixOf(credential.name) + quote : quote };
}
