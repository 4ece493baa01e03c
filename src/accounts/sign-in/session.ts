/** A session: who is signed in, in which of their accounts they act, and what they may do there. */
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { PeopleStore, Person } from '../../storage/store.js';
import type { AccountDirectory } from '../directory.js';
import { membershipInForce, type Standing } from '../roles.js';

/** Who can sign in, as far as passwords and sessions are concerned. */
export type SignInOwner = Pick<Account, 'id' | 'email' | 'name'>;

/** What the person may do in an account that they are a member of. */
export interface AccountStanding extends Standing {
  readonly account: Account;
}

export interface Session {
  /** In the list of the person's sessions. */
  readonly id: string;
  readonly person: SignInOwner;
  /** The account that the session acts in; null for an operator who is a member of none. */
  readonly current: AccountStanding | null;
  /** The roles of the person in all of their accounts, by the accounts' ids. */
  readonly standings: ReadonlyMap<string, Standing>;
  /** Names the session in the store. It leaves the process only in the cookie. */
  readonly token: string;
  /** What gives the session operator rights; null where it has none. */
  readonly operatorBy: 'account' | 'session' | 'group' | null;
  /** How it was opened. */
  readonly openedBy: 'password' | 'provider' | 'admin_token';
  /** The person has two-factor sign-in, which a session that a password opened has passed: one that has not is no session. */
  readonly twoFactor: boolean;
  /** Whoever opened it has shown a second factor, here or at their identity provider. */
  readonly isStrong: boolean;
}

/** What a request with a session's cookie says besides. */
export interface SessionAsking {
  /** The account that it is about. */
  readonly wanted?: string | undefined;
  readonly userAgent?: string | undefined;
}

interface StandingDeps {
  people: Pick<PeopleStore, 'standing' | 'noteVisit'>;
  directory: Pick<AccountDirectory, 'account'>;
  clock: Pick<Clock, 'now'>;
}

/** When a person was last seen in an account is known to the minute. */
const seenMs = 60_000;

/** The roles of a person, and the account that they act in. Throws resource_not_found. */
export async function standingsOf(
  { people, directory, clock }: StandingDeps,
  personId: string,
  wanted: string | undefined,
): Promise<Pick<Session, 'current' | 'standings'>> {
  const { memberships, lastAccountId } = await people.standing(personId);
  const accountIds = new Set(memberships.map(({ accountId }) => accountId));
  const inForce = (id: string) => membershipInForce(memberships.filter(({ accountId }) => accountId === id));
  const standings = new Map([...accountIds].map((id) => [id, inForce(id)]));
  if (wanted !== undefined && !standings.has(wanted))
    throw gatewayError('resource_not_found', { what: 'account', id: wanted.slice(0, 100) });
  const ids = wanted === undefined ? [lastAccountId, personId, ...standings.keys()] : [wanted];
  for (const id of ids) {
    const membership = id === null ? undefined : standings.get(id);
    const account = membership && (await directory.account(membership.accountId));
    if (!account) continue;
    const { role, projects, lastSeenAt } = membership;
    const now = clock.now();
    const isSeen = lastSeenAt !== null && lastSeenAt > now - seenMs;
    if (!isSeen || lastAccountId !== account.id) await people.noteVisit(personId, account.id, now);
    return { standings, current: { account, role, projects } };
  }
  return { standings, current: null };
}

/** Who signs in to an account: the person of its id, else of its email; null where there is none. */
export async function personOf(
  people: Pick<PeopleStore, 'find' | 'findByEmail'>,
  { id, email }: SignInOwner,
): Promise<Person | null> {
  const person = await people.find(id);
  return person?.id === id ? person : people.findByEmail(email);
}
