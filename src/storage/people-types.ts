/** The part of the store for people, their roles in accounts, and invitations. */
import type { ImportedFrom, Membership, Role } from '../domain/organisation.js';

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** A suspended person cannot sign in. */
  readonly status: 'active' | 'suspended';
  readonly operator: boolean;
  readonly twoFactor: boolean;
  readonly hasPassword: boolean;
  /** The identity provider that an operator has asked to link with the next sign-in. */
  readonly linkProvider: string | null;
  /** Where they were before; null for who came here themselves. */
  readonly importedFrom: ImportedFrom | null;
  readonly createdAt: number;
}

type NewPerson = Pick<Person, 'id' | 'email' | 'name' | 'createdAt' | 'importedFrom'>;

interface PersonChange {
  readonly status?: Person['status'];
  readonly operator?: boolean;
  readonly linkProvider?: string | null;
}

/** A person in an account, with the roles of every source. */
export interface MemberRecord {
  readonly person: Pick<Person, 'id' | 'email' | 'name' | 'importedFrom'>;
  /** At least one. */
  readonly memberships: readonly Membership[];
}

export interface PageQuery {
  readonly limit: number;
  /** The id of the last entry of the page before, as others see it. */
  readonly after?: string | undefined;
}

/** `find` is a part of the email or the name. */
export type MembersQuery = PageQuery & { readonly find?: string | undefined };

export interface Invitation {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  readonly projects: readonly string[] | null;
  /** The link itself is in no store. */
  readonly tokenHash: string;
  /** Whom the audit log names. */
  readonly invitedBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly acceptedAt: number | null;
}

export interface PeopleStore {
  /** By the stored id, or by the id that others see. */
  find(id: string): Promise<Person | null>;
  findByEmail(email: string): Promise<Person | null>;
  /** The emails of these people, by stored id. */
  emails(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  list(query: PageQuery & { readonly email?: string | undefined }): Promise<Person[]>;
  /** The person of that email, who may have been there before. */
  ensure(person: NewPerson): Promise<Person>;
  update(id: string, change: PersonChange): Promise<void>;
  /** The roles of a person in all of their accounts, and the account that they used last. */
  standing(personId: string): Promise<{ memberships: Membership[]; lastAccountId: string | null }>;
  noteVisit(personId: string, accountId: string, nowMs: number): Promise<void>;
  members(accountId: string, query: MembersQuery): Promise<MemberRecord[]>;
  member(accountId: string, personId: string): Promise<MemberRecord | null>;
  /**
   * Adds or replaces the role of one source. Nothing is changed where no owner would be left (`last_owner`), or where the person's roles in
   * the account are no longer those of `seen` (`outdated`).
   */
  setMembership(
    membership: Omit<Membership, 'lastSeenAt'>,
    seen?: readonly Membership[],
  ): Promise<'set' | 'last_owner' | 'outdated'>;
  /**
   * Takes the roles of all sources away, or those of one. Whoever has none left loses their sessions, unless they have another account
   * or are an operator, and the keys that they hold are disabled. null where there was nothing to take away.
   */
  removeMember(
    accountId: string,
    personId: string,
    source?: string,
  ): Promise<{ readonly left: boolean; readonly disabledKeys: readonly string[] } | 'last_owner' | null>;
  /**
   * Takes every role in the account and its invitations away, gives it an email that is nobody's, and deletes whoever has no other account
   * and is no operator, with their sessions and ways to sign in. Returns how many people lost their role.
   */
  closeAccount(accountId: string, email: string): Promise<number>;
  /** Ends earlier invitations of the same email to the account. */
  invite(invitation: Invitation): Promise<void>;
  invitations(accountId: string, query: PageQuery): Promise<Invitation[]>;
  findInvitation(tokenHash: string): Promise<Invitation | null>;
  /** False where the account has no open invitation of that id. */
  revokeInvitation(accountId: string, id: string): Promise<boolean>;
  /** The open invitations of an email, in all accounts. */
  openInvitations(email: string, nowMs: number): Promise<Invitation[]>;
  /** Makes the person where there is none of that email, and a member. null where the invitation is not open any more. */
  acceptInvitation(tokenHash: string, newPersonId: string, nowMs: number): Promise<Person | null>;
}
