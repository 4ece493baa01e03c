/** People and their roles in the memory store, over the same rows as sign-in. Who signs up with an account is its owner. */

import { membershipInForce } from '../../src/accounts/roles.js';
import type { Membership } from '../../src/domain/organisation.js';
import {
  adminUserId,
  type Invitation,
  type MemberRecord,
  type PageQuery,
  type PeopleStore,
  type Person,
} from '../../src/storage/store.js';
import type { SignInRows } from './memory-sign-in.js';

interface Rows {
  signIn: SignInRows;
  accountOf: (id: string) => object | undefined;
  /** Returns the ids of the keys. */
  disableKeys: (accountId: string, personId: string) => string[];
}

export function memoryPeople({ signIn, accountOf, disableKeys }: Rows): PeopleStore {
  const memberships: Membership[] = [];
  const known = new Set<string>();
  const lastAccounts = new Map<string, string>();
  const invitations = new Map<string, Invitation>();
  /** What the trigger on new users does. */
  const rowsNow = (): Membership[] => {
    for (const { id, createdAt } of signIn.users()) {
      if (known.has(id)) continue;
      known.add(id);
      if (accountOf(id)) memberships.push(ownerOf(id, createdAt));
    }
    return memberships;
  };
  const persons = () => signIn.users().filter(({ id }) => id !== adminUserId);
  const people = (): Person[] =>
    persons().map((user) => ({
      ...{ id: user.id, email: user.email, name: user.name || null, linkProvider: user.linkProvider ?? null },
      importedFrom: user.importedFrom ?? null,
      status: user.status === 'suspended' ? 'suspended' : 'active',
      ...{ operator: user.operator === true, twoFactor: user.twoFactor === true },
      hasPassword: signIn.hasPassword(user.id),
      createdAt: Number(user.createdAt),
    }));
  const find = async (id: string) => people().find((person) => person.id === storedId(person.id, id)) ?? null;
  const findByEmail = async (email: string) => people().find((person) => person.email === email.toLowerCase()) ?? null;
  const recordOf = (accountId: string, personId: string): MemberRecord | null => {
    const own = rowsNow().filter((row) => row.accountId === accountId && row.personId === personId);
    const person = people().find(({ id }) => id === personId);
    return person && own.length > 0 ? { person, memberships: own } : null;
  };
  const owners = (accountId: string) =>
    rowsNow().filter((row) => row.accountId === accountId && row.role === 'owner').length;
  const drop = (isGone: (row: Membership) => boolean) => {
    const gone = rowsNow().filter(isGone);
    for (const row of gone) memberships.splice(memberships.indexOf(row), 1);
    return gone;
  };
  const set = (membership: Omit<Membership, 'lastSeenAt'>) => {
    const before = drop((row) => isSame(row, membership))[0];
    memberships.push({ ...membership, createdAt: before?.createdAt ?? membership.createdAt, lastSeenAt: null });
    return before;
  };
  return {
    find,
    findByEmail,
    emails: async (ids) => new Map(people().flatMap(({ id, email }) => (ids.includes(id) ? [[id, email]] : []))),
    list: async ({ email, ...page }) =>
      pageOf(
        people().filter((person) => email === undefined || person.email === email),
        page,
      ),
    async ensure(person) {
      if (!(await findByEmail(person.email))) signIn.addUser({ ...person, name: person.name ?? '' });
      return (await findByEmail(person.email))!;
    },
    update: async (id, change) => signIn.updateUser(id, change),
    async standing(personId) {
      const own = rowsNow().filter((row) => row.personId === personId);
      return { memberships: own, lastAccountId: lastAccounts.get(personId) ?? null };
    },
    async noteVisit(personId, accountId) {
      lastAccounts.set(personId, accountId);
    },
    async members(accountId, page) {
      const ids = new Set(rowsNow().flatMap((row) => (row.accountId === accountId ? [row.personId] : [])));
      const records = [...ids].flatMap((id) => recordOf(accountId, id) ?? []);
      return pageOf(
        records
          .filter(({ person }) =>
            `${person.email} ${person.name ?? ''}`.toLowerCase().includes(page.find?.toLowerCase() ?? ''),
          )
          .map((record) => ({ ...record, id: record.person.id })),
        page,
      );
    },
    member: async (accountId, personId) =>
      recordOf(accountId, personId) ?? recordOf(accountId, personId.replace(/^per-/, 'acct-')),
    async setMembership(membership) {
      const had = owners(membership.accountId) > 0;
      const before = set(membership);
      if (!had || owners(membership.accountId) > 0) return 'set';
      if (before) set(before);
      return 'last_owner';
    },
    async closeAccount(accountId, email) {
      Object.assign(accountOf(accountId) ?? {}, { email, name: null });
      for (const [hash, invitation] of invitations) if (invitation.accountId === accountId) invitations.delete(hash);
      const ids = new Set(drop((row) => row.accountId === accountId).map(({ personId }) => personId));
      for (const id of ids) if (!memberships.some(({ personId }) => personId === id)) signIn.removeUser(id);
      return ids.size;
    },
    async removeMember(accountId, personId, source) {
      const had = owners(accountId) > 0;
      const gone = drop(
        (row) =>
          row.accountId === accountId && row.personId === personId && (source === undefined || row.source === source),
      );
      if (gone.length === 0) return null;
      if (had && owners(accountId) === 0) {
        memberships.push(...gone);
        return 'last_owner';
      }
      const own = rowsNow().filter((row) => row.personId === personId);
      if (own.some((row) => row.accountId === accountId)) return { left: false, disabledKeys: [] };
      if (own.length === 0) signIn.endSessions(personId);
      return { left: true, disabledKeys: disableKeys(accountId, personId) };
    },
    async invite(invitation) {
      for (const [hash, { accountId, email, acceptedAt }] of invitations) {
        const isEarlier = accountId === invitation.accountId && email === invitation.email && acceptedAt === null;
        if (isEarlier) invitations.delete(hash);
      }
      invitations.set(invitation.tokenHash, invitation);
    },
    invitations: async (accountId, page) =>
      pageOf(
        [...invitations.values()].filter((invitation) => invitation.accountId === accountId),
        page,
      ),
    findInvitation: async (hash) => invitations.get(hash) ?? null,
    openInvitations: async (email, nowMs) =>
      [...invitations.values()].filter(
        (row) => row.email === email && row.acceptedAt === null && row.expiresAt > nowMs,
      ),
    async revokeInvitation(accountId, id) {
      const found = [...invitations.values()].find((row) => row.id === id && row.accountId === accountId);
      return found?.acceptedAt === null && invitations.delete(found.tokenHash);
    },
    async acceptInvitation(hash, newPersonId, nowMs) {
      const invitation = invitations.get(hash);
      if (!invitation || invitation.acceptedAt !== null || invitation.expiresAt <= nowMs) return null;
      invitations.set(hash, { ...invitation, acceptedAt: nowMs });
      const { email, accountId, role, projects } = invitation;
      if (!(await findByEmail(email))) signIn.addUser({ id: newPersonId, email, name: '', createdAt: nowMs });
      const person = (await findByEmail(email))!;
      const membership = { accountId, personId: person.id, source: 'manual', role, projects, createdAt: nowMs };
      if (!rowsNow().some((row) => isSame(row, membership))) set(membership);
      return person;
    },
  };
}

function ownerOf(id: string, createdAt: number | Date): Membership {
  const times = { createdAt: Number(createdAt), lastSeenAt: null };
  return membershipInForce([
    { accountId: id, personId: id, source: 'manual', role: 'owner', projects: null, ...times },
  ]);
}

const storedId = (stored: string, given: string) => (stored === given ? given : given.replace(/^per-/, 'acct-'));

function isSame(one: Membership, other: Pick<Membership, 'accountId' | 'personId' | 'source'>): boolean {
  return one.accountId === other.accountId && one.personId === other.personId && one.source === other.source;
}

function pageOf<T extends { id: string }>(rows: readonly T[], { limit, after = '' }: PageQuery): T[] {
  const place = (id: string) => id.replace(/^(acct|per)-/, '');
  const later = rows.filter(({ id }) => place(id) > place(after));
  return later.sort((one, other) => (place(one.id) < place(other.id) ? -1 : 1)).slice(0, limit);
}
