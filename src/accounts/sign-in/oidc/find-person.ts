/** Finds the person of an identity, links it where that is allowed, and makes the person where a group or an invitation lets them in. */
import type { Clock } from '../../../base/time.js';
import type { IdentityProvider } from '../../../config/identity-providers.js';
import { shownPersonId } from '../../../domain/organisation.js';
import type { IdentityStore, LinkReason, PeopleStore, Person } from '../../../storage/store.js';
import type { AuditLog } from '../../audit.js';
import type { GroupRoles } from '../../people/group-roles.js';
import type { Invitations } from '../../people/invitations.js';
import { newPersonId } from '../../people/members.js';
import { quoted, SignInFault } from './faults.js';
import type { Claims } from './read-claims.js';

export interface FindPersonDeps {
  people: PeopleStore;
  identities: IdentityStore;
  invitations: Pick<Invitations, 'accept'>;
  groupRoles: Pick<GroupRoles, 'grantsOf' | 'apply'>;
  audit: Pick<AuditLog, 'record'>;
  clock: Pick<Clock, 'now'>;
}

/** How somebody is back from a provider. */
interface Arrival {
  /** Who has asked for the identity while signed in. */
  readonly linkTo: string | null;
  readonly address: string;
}

/** Gives the person the roles of their groups too. Throws SignInFault. */
export async function findPerson(
  deps: FindPersonDeps,
  provider: IdentityProvider,
  claims: Claims,
  { linkTo, address }: Arrival,
): Promise<Person> {
  const { people, invitations, groupRoles, clock } = deps;
  const { email, groups } = claims;
  const wanted = await groupRoles.grantsOf(provider, groups);
  const operator = provider.grants.some((grant) => grant.operator && groups.has(grant.group));
  const invited = async () => people.openInvitations(email, clock.now());
  const isLetIn = async () => wanted.size > 0 || operator || (await invited()).length > 0;
  const person = await personOf(deps, provider, { ...claims, operator }, { linkTo, address, isLetIn });
  await groupRoles.apply(person, provider, wanted, address);
  const hasRole = async () => (await people.standing(person.id)).memberships.length > 0;
  if (operator || person.operator || (await hasRole())) return person;
  // An invitation goes to an email, and the provider has just said that this is theirs. One to another email is another person's.
  if (person.email === email) for (const invitation of await invited()) await invitations.accept(invitation, address);
  if (await hasRole()) return person;
  throw new SignInFault('no_access', undefined, { email, groups: [...groups].slice(0, 50) });
}

type Identity = Claims & { readonly operator: boolean };

interface Wish extends Arrival {
  /** Somebody unknown may become a person. */
  readonly isLetIn: () => Promise<boolean>;
}

async function personOf(deps: FindPersonDeps, provider: IdentityProvider, claims: Identity, wish: Wish) {
  const { linkTo, address, isLetIn } = wish;
  const { people, identities, clock } = deps;
  const { issuer, subject, email } = claims;
  const known = await identities.find(issuer, subject);
  if (known) {
    if (linkTo !== null && linkTo !== known.personId)
      throw conflict(claims, 'The identity belongs to somebody else already.');
    const person = await active(people, known.personId, email);
    const { operator } = claims;
    await identities.noteUse({ ...known, provider: provider.id, email, operator, lastUsedAt: clock.now() });
    return person;
  }
  const linked = (person: Person, reason: LinkReason) => link(deps, provider, claims, { person, reason, address });
  const ofEmail = await people.findByEmail(email);
  if (linkTo !== null) {
    if (ofEmail && ofEmail.id !== linkTo) throw conflict(claims, 'The email belongs to somebody else.');
    return linked(await active(people, linkTo, email), 'person');
  }
  if (ofEmail) {
    const person = await active(people, ofEmail.id, email);
    return linked(person, person.linkProvider === provider.id ? 'operator' : 'first');
  }
  if (!(await isLetIn()))
    throw new SignInFault('no_access', undefined, { email, groups: [...claims.groups].slice(0, 50) });
  const createdAt = clock.now();
  const person = await people.ensure({
    ...{ id: newPersonId(createdAt), email, name: claims.name, createdAt },
    importedFrom: null,
  });
  return linked(person, 'first');
}

async function active(people: PeopleStore, id: string, email: string): Promise<Person> {
  const person = await people.find(id);
  if (!person) throw new SignInFault('no_access', 'The person is gone.', { email });
  if (person.status === 'suspended') throw new SignInFault('person_suspended', undefined, { email });
  return person;
}

async function link(
  { identities, audit, clock }: FindPersonDeps,
  provider: IdentityProvider,
  { issuer, subject, email, operator }: Identity,
  { person, reason, address }: { person: Person; reason: LinkReason; address: string },
): Promise<Person> {
  const now = clock.now();
  const identity = { issuer, subject, provider: provider.id, personId: person.id, email, operator };
  if (!(await identities.link({ ...identity, createdAt: now, lastUsedAt: now }, reason)))
    throw conflict({ email }, 'The person with this email has another way to sign in.');
  const shownId = shownPersonId(person.id);
  const by = `person:${shownId}` as const;
  const details = { provider: provider.id, subject, email, reason };
  await audit.record({ actor: by, by, address }, 'identity.link', shownId, details);
  return person;
}

function conflict({ email }: { email: string }, reason: string): SignInFault {
  return new SignInFault('identity_conflict', `${reason} The identity provider says ${quoted(email)}.`, { email });
}
