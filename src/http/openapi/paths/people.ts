/** Describes members and invitations of an account, and for operators everybody who can sign in. */
import { memberChange, membersLimit, newImportedMember, newMember } from '../../people/member-fields.js';
import { linkWish, personChange } from '../../people/people.js';
import { json, noContent, type Resource } from '../operations.js';
import {
  array,
  bodySchema,
  boolean,
  listOf,
  numberParameter,
  object,
  oneOfValues,
  orNull,
  query,
  ref,
  text,
  textOrNull,
  time,
} from '../schema.js';
import type { Parameter } from '../types.js';
import { importedFrom } from './keys.js';
import { personSchema, role } from './person-schema.js';

const membersTag = {
  name: 'Members',
  description:
    'Who may do what in an account. A management key has the rights of an admin; operators have all of them.',
};
const peopleTag = { name: 'People', description: 'For operators: everybody who can sign in at the dashboard.' };

const after: Parameter = query('after', 'The id of the last entry of the page before.', { type: 'string' });
const paged = [numberParameter(membersLimit), after];

const projects = orNull(
  array({ type: 'string' }, 'The ids of the projects that a developer reaches; null is all of them.'),
);

const invitation = {
  object: { const: 'invitation' },
  id: text('Its id.'),
  email: text('Who is invited.'),
  role,
  projects,
  status: oneOfValues(['pending', 'accepted', 'expired'], 'Whether its link can still be used.'),
  invited_by: text('Who invited them.'),
  created_at: time('When it was made.'),
  expires_at: time('When its link stops working: after 7 days.'),
};

const removed = object({
  removed: text('The person’s id.'),
  disabled_keys: array(text('The id of a key.'), 'The keys that they held in the account, which are disabled now.'),
});

const newMemberExamples = {
  developer: { summary: 'A developer', value: { email: 'grace@example.com', role: 'developer', projects: null } },
};
const memberChangeExamples = { role: { summary: 'Another role', value: { role: 'auditor' } } };

const list = json('The list.', listOf(ref('Member')));
const one = json('The member.', ref('Member'));

export const members: Resource = {
  tag: membersTag,
  schemas: {
    Member: object(
      {
        object: { const: 'member' },
        id: text('The person’s id.', { pattern: '^per-' }),
        email: text('The email address with which they sign in.'),
        imported_from: importedFrom('the person'),
        name: textOrNull('Their name.'),
        role,
        projects,
        source: text('`manual`, or the identity provider whose group gives the role, like `oidc:corp`.'),
        roles: array(
          object({ role, source: text('Where the role comes from.') }),
          'Every role; the highest is in force.',
        ),
        created_at: time('When they became a member.'),
        last_seen_at: orNull(time('When they last used the dashboard in this account, to the minute.')),
      },
      { optional: ['imported_from'] },
    ),
    NewMember: bodySchema(newMember),
    NewImportedMember: bodySchema(newImportedMember),
    MemberChange: bodySchema(memberChange),
    Invitation: object(invitation),
    CreatedInvitation: object({
      ...invitation,
      mailed: boolean('The link was mailed.'),
      url: textOrNull('The link, in this answer and never again; null where it was mailed.'),
      token: textOrNull('The secret of the link; null where it was mailed.'),
    }),
  },
  access: 'management',
  operations: {
    'GET /v1/members': {
      id: 'listMembers',
      summary: 'List the members of the account',
      parameters: [...paged, query('find', 'A part of the email or the name.')],
      answers: { '200': list },
    },
    'GET /v1/members/{id}': { id: 'getMember', summary: 'Get a member', answers: { '200': one } },
    'PATCH /v1/members/{id}': {
      id: 'updateMember',
      summary: 'Change the role of a member',
      description: 'A field that is left out stays as it is. Admins change members below admin.',
      body: { schema: ref('MemberChange'), examples: memberChangeExamples },
      answers: { '200': one },
    },
    'DELETE /v1/members/{id}': {
      id: 'removeMember',
      summary: 'Remove a member',
      description:
        'Ends their sessions in the account at once, on every replica, and disables the keys that they hold.',
      answers: { '200': json('Who was removed.', removed) },
    },
    'GET /v1/invitations': {
      id: 'listInvitations',
      summary: 'List invitations',
      parameters: paged,
      answers: { '200': json('The list.', listOf(ref('Invitation'))) },
    },
    'POST /v1/invitations': {
      id: 'createInvitation',
      summary: 'Invite somebody',
      description:
        'Makes a link that works once, for 7 days. It is mailed where mail is set up, else shown in this answer. A newer invitation of the same email takes the place of an earlier one.',
      body: { schema: ref('NewMember'), examples: newMemberExamples },
      answers: { '201': json('The invitation.', ref('CreatedInvitation')) },
    },
    'DELETE /v1/invitations/{id}': {
      id: 'revokeInvitation',
      summary: 'Revoke an invitation',
      answers: { '204': noContent },
    },
    'GET /admin/v1/accounts/{id}/members': {
      id: 'listAccountMembers',
      summary: 'List the members of an account',
      parameters: paged,
      answers: { '200': list },
    },
    'POST /admin/v1/accounts/{id}/members': {
      id: 'addAccountMember',
      summary: 'Add a member without an invitation',
      description: 'Makes the person too where there is none of that email.',
      body: { schema: ref('NewImportedMember'), examples: newMemberExamples },
      answers: { '201': one },
    },
    'GET /admin/v1/accounts/{id}/members/{member_id}': {
      id: 'getAccountMember',
      summary: 'Get a member',
      answers: { '200': one },
    },
    'PATCH /admin/v1/accounts/{id}/members/{member_id}': {
      id: 'updateAccountMember',
      summary: 'Change the role of a member',
      body: { schema: ref('MemberChange'), examples: memberChangeExamples },
      answers: { '200': one },
    },
    'DELETE /admin/v1/accounts/{id}/members/{member_id}': {
      id: 'removeAccountMember',
      summary: 'Remove a member',
      answers: { '200': json('Who was removed.', removed) },
    },
  },
};

const onePerson = json('The person.', ref('Person'));

export const people: Resource = {
  tag: peopleTag,
  schemas: {
    Person: personSchema,
    PersonChange: bodySchema(personChange),
    LinkWish: bodySchema(linkWish),
  },
  operations: {
    'GET /admin/v1/people': {
      id: 'listPeople',
      summary: 'List people',
      parameters: [query('email', 'Only the person of this email.', { type: 'string' }), ...paged],
      answers: { '200': json('The list.', listOf(ref('Person'))) },
    },
    'GET /admin/v1/people/{id}': { id: 'getPerson', summary: 'Get a person', answers: { '200': onePerson } },
    'PATCH /admin/v1/people/{id}': {
      id: 'updatePerson',
      summary: 'Suspend a person, or make them an operator',
      body: {
        schema: ref('PersonChange'),
        examples: { active: { summary: 'Active', value: { status: 'active', operator: false } } },
      },
      answers: { '200': onePerson },
    },
    'POST /admin/v1/people/{id}/password-reset': {
      id: 'resetPersonPassword',
      summary: 'Make a link that resets a password',
      description: 'The link works once, within 24 hours.',
      answers: {
        '201': json(
          'The link.',
          object({ url: text('Give it to the person only.'), expires_at: time('When it expires.') }),
        ),
      },
    },
    'POST /admin/v1/people/{id}/link': {
      id: 'linkPerson',
      summary: 'Link an identity provider with the next sign-in',
      body: {
        schema: ref('LinkWish'),
        examples: { corp: { summary: 'A provider', value: { provider: 'corp' } } },
      },
      answers: { '200': onePerson },
    },
    'DELETE /admin/v1/people/{id}/two-factor': {
      id: 'resetPersonTwoFactor',
      summary: 'Reset two-factor sign-in',
      description: 'For a lost device. Ends the sessions of the person.',
      answers: { '200': onePerson },
    },
  },
};
