/** The members of an account: who has which role, and what happens to keys and sessions when somebody leaves. */
import { timeOrderedId } from '../../base/ids.js';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { type ImportedFrom, type Membership, type Role, shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { MemberRecord, MembersQuery, PeopleStore } from '../../storage/store.js';
import type { Actor, AuditLog } from '../audit.js';
import type { AccountDirectory } from '../directory.js';
import { checkRight, memberRight, membershipInForce, type Standing } from '../roles.js';

interface MembersDeps {
  people: PeopleStore;
  directory: Pick<AccountDirectory, 'keysChanged'>;
  audit: Pick<AuditLog, 'record'>;
  clock: Pick<Clock, 'now'>;
}

/** Who changes members. `standing` is null for an operator. */
export interface Changer {
  readonly actor: Actor;
  readonly standing: Standing | null;
}

export interface Grant {
  readonly role: Role;
  readonly projects: readonly string[] | null;
}

/** Somebody who can be made a member without an invitation. */
export interface NewMember extends Grant {
  readonly email: string;
  readonly importedFrom?: ImportedFrom;
}

const byHand = 'manual';

export class Members {
  constructor(private readonly deps: MembersDeps) {}

  list(accountId: string, page: MembersQuery): Promise<MemberRecord[]> {
    return this.deps.people.members(accountId, page);
  }

  /** Throws resource_not_found. */
  async find(accountId: string, id: string): Promise<MemberRecord> {
    const member = await this.deps.people.member(accountId, id);
    if (!member) throw gatewayError('resource_not_found', { what: 'member', id: id.slice(0, 100) });
    return member;
  }

  /** Makes the person too where there is none of that email. Throws member_exists. */
  async add({ actor }: Changer, account: Account, member: NewMember): Promise<MemberRecord> {
    const { email, role, projects, importedFrom = null } = member;
    const { people, audit, clock } = this.deps;
    const createdAt = clock.now();
    const person = await people.ensure({ id: newPersonId(createdAt), email, name: null, importedFrom, createdAt });
    const membership = { accountId: account.id, personId: person.id, source: byHand, role, projects, createdAt };
    const isMember = (await people.member(account.id, person.id)) !== null;
    if (isMember || (await people.setMembership(membership, [])) !== 'set')
      throw gatewayError('member_exists', { email });
    await audit.record(actor, 'member.add', shownPersonId(person.id), {
      account_id: account.id,
      email,
      role,
      projects,
      ...(importedFrom && { imported_from: importedFrom }),
    });
    return this.find(account.id, person.id);
  }

  /** Sets the role that is given by hand. Throws role_required, last_owner and a fault of `projects`. */
  async change(
    { actor, standing }: Changer,
    account: Account,
    id: string,
    change: Partial<Grant>,
  ): Promise<MemberRecord> {
    const { people, audit, clock } = this.deps;
    const { person, memberships } = await this.find(account.id, id);
    const inForce = membershipInForce(memberships);
    const before = memberships.find(({ source }) => source === byHand) ?? inForce;
    const role = change.role ?? before.role;
    const projects = projectsAfter(role, before, change);
    if (standing) for (const each of [inForce.role, role]) checkRight(standing, memberRight(each));
    if (projects !== null && role !== 'developer') throw boundsFault(role, standing === null);
    const membership = { accountId: account.id, personId: person.id, source: byHand, role, projects };
    const outcome = await people.setMembership({ ...membership, createdAt: clock.now() }, memberships);
    if (outcome === 'last_owner') throw gatewayError('last_owner', { email: person.email });
    // Somebody else has changed or removed the member meanwhile, and what was checked no longer holds.
    if (outcome === 'outdated') return this.change({ actor, standing }, account, id, change);
    const details = { account_id: account.id, email: person.email, role, projects };
    await audit.record(actor, 'member.update', shownPersonId(person.id), details);
    return this.find(account.id, person.id);
  }

  /** Ends their sessions in the account and disables the keys that they hold there. Throws role_required and last_owner. */
  async remove(
    { actor, standing }: Changer,
    account: Account,
    id: string,
  ): Promise<{ id: string; disabledKeys: readonly string[] }> {
    const { person, memberships } = await this.find(account.id, id);
    if (standing) checkRight(standing, memberRight(membershipInForce(memberships).role));
    const outcome = await this.take(actor, account.id, person);
    if (outcome === 'last_owner') throw gatewayError('last_owner', { email: person.email });
    return { id: person.id, disabledKeys: outcome?.disabledKeys ?? [] };
  }

  /** Takes the roles of one source away, or all of them. Whoever has none left is removed. null where there were none. */
  async take(actor: Actor, accountId: string, person: Pick<MemberRecord['person'], 'id' | 'email'>, source?: string) {
    const { people, directory, audit } = this.deps;
    const outcome = await people.removeMember(accountId, person.id, source);
    if (outcome === null || outcome === 'last_owner') return outcome;
    await directory.keysChanged(accountId, outcome.disabledKeys);
    const details = { account_id: accountId, email: person.email, disabled_keys: outcome.disabledKeys };
    const action = outcome.left ? 'member.remove' : 'member.update';
    await audit.record(actor, action, shownPersonId(person.id), { ...details, ...(source && { source }) });
    return outcome;
  }
}

export function newPersonId(nowMs: number): string {
  return `per-${timeOrderedId(nowMs)}`;
}

/** `projects` beside a role that reaches all of them. */
export function boundsFault(role: Role, isOperator: boolean) {
  const reason = `is for developers only: the role ${role} reaches all projects. Leave it out or send null`;
  return gatewayError(isOperator ? 'field_invalid' : 'member_field_invalid', { param: 'projects', reason });
}

/** Only developers are bound to projects, so another role takes the bounds away. */
function projectsAfter(role: Role, before: Membership, { projects }: Partial<Grant>): readonly string[] | null {
  if (projects !== undefined) return projects;
  return role === 'developer' && before.role === 'developer' ? before.projects : null;
}
