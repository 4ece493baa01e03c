/** The fields of members and invitations: how a request sends them, and how an answer shows them. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { boundsFault, type Grant, type NewMember } from '../../accounts/people/members.js';
import { membershipInForce } from '../../accounts/roles.js';
import { importedFrom } from '../../catalogue/model-name.js';
import type { Account } from '../../domain/account.js';
import { type Role, roles, shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Invitation, MemberRecord } from '../../storage/store.js';
import { bodyFields, emailAddress, isOperators, withFaults } from '../admin/fields.js';
import { body, component, record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { importedFrom as importedFromSchema, role as roleSchema } from '../openapi/shared.js';
import { pageLimit } from '../query.js';

const role = z.enum(roles, `must be one of ${roles.join(', ')}`);
const projects = z
  .array(z.string('must be the id of a project'), 'must be a list of ids of projects, or null for all')
  .max(1000, 'must have at most 1000 entries')
  .nullable()
  .optional()
  .describe('The ids of the projects that a developer reaches; null is all of them. Other roles reach all.');

const newMember = z.strictObject({ email: emailAddress, role, projects });
/** Operators may say where a person was before. */
const newImportedMember = newMember.extend({
  imported_from: importedFrom.optional().describe('The system that the person comes from, and their id there.'),
});
/** What is left out stays as it is. */
const memberChange = z.strictObject({ role: role.optional(), projects });

/** The checked fields of a new member or an invitation. */
export function newMemberOf(request: FastifyRequest, account: Account): NewMember {
  return withMemberFaults(request, () => {
    const { email, role, projects = null } = bodyFields(request, newMember);
    checkProjects(account, role, projects);
    return { email, role, projects };
  });
}

/** Of an operator. */
export function newImportedMemberOf(request: FastifyRequest, account: Account): NewMember {
  const { email, role, projects = null, imported_from } = bodyFields(request, newImportedMember);
  checkProjects(account, role, projects);
  return { email, role, projects, ...(imported_from && { importedFrom: imported_from }) };
}

export function memberChangeOf(request: FastifyRequest, account: Account): Partial<Grant> {
  return withMemberFaults(request, () => {
    const { role, projects } = bodyFields(request, memberChange);
    checkProjects(account, role, projects);
    return { ...(role !== undefined && { role }), ...(projects !== undefined && { projects }) };
  });
}

function checkProjects(account: Account, role: Role | undefined, ids: readonly string[] | null | undefined): void {
  if (!ids) return;
  const unknown = ids.find((id) => !account.projects.has(id));
  if (unknown !== undefined) {
    const reason = `names "${unknown.slice(0, 100)}", but the account has no project with this id`;
    throw gatewayError('field_invalid', { param: 'projects', reason });
  }
  if (role !== undefined && role !== 'developer') throw boundsFault(role, true);
}

/** A fault is a 422, and a 400 in the admin API. `param` is a field; the message names the entry of its list, too. */
export function withMemberFaults<T>(request: FastifyRequest, check: () => T): T {
  return withFaults(check, (fault) =>
    gatewayError(isOperators(request) ? 'field_invalid' : 'member_field_invalid', fault),
  );
}

export function memberJson({ person, memberships }: MemberRecord, account: Account) {
  const { role, source, projects } = membershipInForce(memberships);
  const seen = memberships.map(({ lastSeenAt }) => lastSeenAt ?? 0);
  const lastSeen = Math.max(...seen);
  return {
    object: 'member',
    id: shownPersonId(person.id),
    email: person.email,
    name: person.name,
    ...(person.importedFrom && { imported_from: person.importedFrom }),
    role,
    projects: shownProjects(account, projects),
    source,
    roles: memberships.map((each) => ({ role: each.role, source: each.source })),
    created_at: new Date(Math.min(...memberships.map(({ createdAt }) => createdAt))).toISOString(),
    last_seen_at: lastSeen === 0 ? null : new Date(lastSeen).toISOString(),
  };
}

export function invitationJson(invitation: Invitation, account: Account, nowMs: number) {
  const { id, email, role, projects, invitedBy, createdAt, expiresAt, acceptedAt } = invitation;
  return {
    ...{ object: 'invitation', id, email, role, projects: shownProjects(account, projects) },
    status: acceptedAt !== null ? 'accepted' : expiresAt <= nowMs ? 'expired' : 'pending',
    invited_by: invitedBy,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}

/** Without projects that were deleted since. */
function shownProjects({ projects }: Account, ids: readonly string[] | null): readonly string[] | null {
  return ids?.filter((id) => projects.has(id)) ?? null;
}

export const pageParameters = [
  s.numberParameter(pageLimit),
  s.query('after', 'The id of the last entry of the page before.', { type: 'string' }),
];

const reachedProjects = s.textsOrNull('The ids of the projects that a developer reaches; null is all of them.');

export const shownMember = record('Member', {
  object: { const: 'member' },
  id: s.text('The person’s id.', { pattern: '^per-' }),
  email: s.text('The email address with which they sign in.'),
  imported_from: s.optional(importedFromSchema('the person')),
  name: s.textOrNull('Their name.'),
  role: roleSchema,
  projects: reachedProjects,
  source: s.text('`manual`, or the identity provider whose group gives the role, like `oidc:corp`.'),
  roles: s.objectsOf('Every role; the highest is in force.', {
    role: roleSchema,
    source: s.text('Where the role comes from.'),
  }),
  created_at: s.time('When they became a member.'),
  last_seen_at: s.timeOrNull('When they last used the dashboard in this account, to the minute.'),
});

const invitation = {
  object: { const: 'invitation' },
  id: s.text('Its id.'),
  email: s.text('Who is invited.'),
  role: roleSchema,
  projects: reachedProjects,
  status: s.oneOfValues(['pending', 'accepted', 'expired'], 'Whether its link can still be used.'),
  invited_by: s.text('Who invited them.'),
  created_at: s.time('When it was made.'),
  expires_at: s.time('When its link stops working: after 7 days.'),
};
export const shownInvitation = record('Invitation', invitation);
export const createdInvitation = record('CreatedInvitation', {
  ...invitation,
  mailed: s.boolean('The link was mailed.'),
  url: s.textOrNull('The link, in this answer and never again; null where it was mailed.'),
  token: s.textOrNull('The secret of the link; null where it was mailed.'),
});

const developer = ['A developer', { email: 'grace@example.com', role: 'developer', projects: null }] as const;
export const newMemberBody = body(component('NewMember', newMember), { developer });
export const newImportedMemberBody = body(component('NewImportedMember', newImportedMember), { developer });
export const memberChangeBody = body(component('MemberChange', memberChange), {
  role: ['Another role', { role: 'auditor' }],
});
