/** Gives people the roles of their groups at an identity provider, and takes those away whose groups are gone. */
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import type { GroupGrant, IdentityProvider } from '../../config/identity-providers.js';
import type { Account } from '../../domain/account.js';
import { type Membership, shownPersonId } from '../../domain/organisation.js';
import type { PeopleStore, Person } from '../../storage/store.js';
import type { ActorDetails, AuditLog } from '../audit.js';
import type { AccountDirectory } from '../directory.js';
import { membershipInForce } from '../roles.js';
import type { Grant, Members } from './members.js';

interface GroupRolesDeps {
  people: PeopleStore;
  members: Pick<Members, 'take'>;
  directory: Pick<AccountDirectory, 'account'>;
  audit: Pick<AuditLog, 'record'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

interface SigningIn extends Pick<Person, 'id' | 'email'> {
  readonly who: ActorDetails;
}

type Provider = Pick<IdentityProvider, 'id' | 'grants'>;

export class GroupRoles {
  constructor(private readonly deps: GroupRolesDeps) {}

  /** The roles of these groups, by the ids of accounts. What a grant names and nobody knows gives nothing. */
  async grantsOf({ grants }: Provider, groups: ReadonlySet<string>): Promise<Map<string, Grant>> {
    const found = new Map<string, Grant[]>();
    for (const { group, member } of grants) {
      const account = member && groups.has(group) ? await this.deps.directory.account(member.account) : null;
      const grant = account && grantIn(account, member!);
      if (grant) found.set(account.id, [...(found.get(account.id) ?? []), grant]);
    }
    return new Map([...found].map(([accountId, list]) => [accountId, highestOf(list)]));
  }

  /**
   * The person signs in at this address. Whoever is left without a role is removed from the account. The last owner stays, and the
   * audit log has a warning.
   */
  async apply(
    { id, email }: Pick<Person, 'id' | 'email'>,
    provider: Provider,
    wanted: ReadonlyMap<string, Grant>,
    address: string,
  ): Promise<void> {
    const who: ActorDetails = { actor: 'system', by: `person:${shownPersonId(id)}`, address };
    const person = { id, email, who };
    const source = `oidc:${provider.id}`;
    const { memberships } = await this.deps.people.standing(person.id);
    const before = new Map(memberships.filter((row) => row.source === source).map((row) => [row.accountId, row]));
    for (const [accountId, grant] of wanted) {
      const had = before.get(accountId);
      if (!had || !isSame(had, grant)) await this.give(person, accountId, source, grant, had !== undefined);
    }
    for (const accountId of before.keys()) {
      if (wanted.has(accountId)) continue;
      const outcome = await this.deps.members.take(who, accountId, person, source);
      if (outcome === 'last_owner') await this.warn(person, accountId, source, null);
    }
  }

  private async give(
    person: SigningIn,
    accountId: string,
    source: string,
    { role, projects }: Grant,
    isMember: boolean,
  ): Promise<void> {
    const { people, audit, clock } = this.deps;
    const createdAt = clock.now();
    const outcome = await people.setMembership({ accountId, personId: person.id, source, role, projects, createdAt });
    if (outcome === 'last_owner') return this.warn(person, accountId, source, role);
    const details = { account_id: accountId, email: person.email, role, projects, source };
    await audit.record(person.who, isMember ? 'member.update' : 'member.add', shownPersonId(person.id), details);
  }

  private async warn({ id, email, who }: SigningIn, accountId: string, source: string, role: string | null) {
    const warning =
      'The group that made this person an owner is gone. They stay the last owner until there is another.';
    const details = { account_id: accountId, email, source, role, warning };
    await this.deps.audit.record(who, 'member.last_owner_kept', shownPersonId(id), details);
  }

  /** Names the grants that give nothing, because their account or a project is unknown. */
  async check({ id, grants }: Provider): Promise<void> {
    const { directory, logger } = this.deps;
    for (const { group, member } of grants) {
      if (!member) continue;
      const account = await directory.account(member.account);
      const unknown = account ? (member.projects ?? []).filter((name) => projectIn(account, name) === null) : [];
      const about = { provider: id, group, account: member.account };
      if (!account) logger.warn(about, 'a grant of single sign-on names an unknown account, and gives nothing');
      else if (unknown.length > 0)
        logger.warn(
          { ...about, projects: unknown },
          'a grant of single sign-on names unknown projects, which it does not give',
        );
    }
  }
}

function grantIn(account: Account, { role, projects }: NonNullable<GroupGrant['member']>): Grant | null {
  if (projects === null) return { role, projects: null };
  const ids = projects.flatMap((name) => projectIn(account, name) ?? []);
  return ids.length > 0 ? { role, projects: ids } : null;
}

function projectIn({ projects }: Account, nameOrId: string): string | null {
  if (projects.has(nameOrId)) return nameOrId;
  return [...projects.values()].find(({ name }) => name === nameOrId)?.id ?? null;
}

/** As if each grant were a role of its own. */
function highestOf(grants: readonly Grant[]): Grant {
  const none = { accountId: '', personId: '', source: '', createdAt: 0, lastSeenAt: null };
  const { role, projects } = membershipInForce(grants.map((grant) => ({ ...none, ...grant })));
  return { role, projects };
}

function isSame(had: Membership, { role, projects }: Grant): boolean {
  const listOf = (ids: readonly string[] | null) => ids && [...ids].sort().join(' ');
  return had.role === role && listOf(had.projects) === listOf(projects);
}
