/** `/v1/members` and `/v1/invitations`, for management keys and in the dashboard, and the members of any account for operators. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Changer } from '../../accounts/people/members.js';
import type { Account } from '../../domain/account.js';
import { shownPersonId } from '../../domain/organisation.js';
import { accountNamed } from '../admin/accounts.js';
import { actingPerson } from '../admin/audit.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { created, json, list, noContent, operation, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { pageLimit, queryId, queryNumber, queryText } from '../query.js';
import { standingOf } from '../rights.js';
import {
  createdInvitation,
  invitationJson,
  memberChangeBody,
  memberChangeOf,
  memberJson,
  newImportedMemberBody,
  newImportedMemberOf,
  newMemberBody,
  newMemberOf,
  pageParameters,
  shownInvitation,
  shownMember,
} from './member-fields.js';

type WithId = { Params: { id: string } };

const changerOf = (request: FastifyRequest): Changer => ({
  actor: actingPerson(request),
  standing: standingOf(request),
});
const operatorOf = (request: FastifyRequest): Changer => ({ actor: actingPerson(request), standing: null });

function pageOf(request: FastifyRequest, kind: 'per' | 'inv') {
  return { limit: queryNumber(request, pageLimit), after: queryId(request, kind) };
}

/** Who changes members of which account, and which of them. */
interface Scope {
  readonly changer: Changer;
  readonly accountOf: () => Promise<Account>;
  readonly id: string;
}

/** `base` is `/v1`, or empty for the same paths of the dashboard. */
export function registerMembers(app: FastifyInstance, deps: HttpDeps, base: '/v1' | ''): void {
  const { members } = deps;
  app.get(`${base}/members`, async (request) => {
    standingOf(request);
    const account = accountOf(request);
    const records = await members.list(account.id, { ...pageOf(request, 'per'), find: queryText(request, 'find') });
    return { object: 'list', data: records.map((record) => memberJson(record, account)) };
  });

  registerMember(app, deps, `${base}/members/:id`, (request) => {
    const changer = changerOf(request);
    const account = accountOf(request);
    return { changer, accountOf: async () => account, id: (request.params as { id: string }).id };
  });
}

/** The paths of one member. */
function registerMember(
  app: FastifyInstance,
  { members }: HttpDeps,
  path: string,
  scopeOf: (request: FastifyRequest) => Scope,
): void {
  app.get(path, async (request) => {
    const { accountOf, id } = scopeOf(request);
    const account = await accountOf();
    return memberJson(await members.find(account.id, id), account);
  });

  app.patch(path, async (request) => {
    const { changer, accountOf, id } = scopeOf(request);
    const account = await accountOf();
    return memberJson(await members.change(changer, account, id, memberChangeOf(request, account)), account);
  });

  app.delete(path, async (request) => {
    const { changer, accountOf, id } = scopeOf(request);
    const { id: removedId, disabledKeys } = await members.remove(changer, await accountOf(), id);
    return { removed: shownPersonId(removedId), disabled_keys: disabledKeys };
  });
}

export function registerInvitations(app: FastifyInstance, deps: HttpDeps, base: '/v1' | ''): void {
  const { invitations, clock, dashboard } = deps;

  app.get(`${base}/invitations`, async (request) => {
    standingOf(request);
    const account = accountOf(request);
    const found = await invitations.list(account.id, pageOf(request, 'inv'));
    return { object: 'list', data: found.map((invitation) => invitationJson(invitation, account, clock.now())) };
  });

  app.post(`${base}/invitations`, async (request, reply) => {
    const changer = changerOf(request);
    const account = accountOf(request);
    const invited = newMemberOf(request, account);
    // Each may send a mail. 100 at once, then 60 an hour.
    await dashboard?.limiter.take([{ name: `invitations ${account.id}`, capacity: 100, refillMs: 60_000 }]);
    const { invitation, token, url } = await invitations.create(changer, account, invited);
    const shown = invitationJson(invitation, account, clock.now());
    return reply.code(201).send({ ...shown, mailed: url === null, url, token });
  });

  app.delete<WithId>(`${base}/invitations/:id`, async (request, reply) => {
    await invitations.revoke(changerOf(request), accountOf(request), request.params.id);
    return reply.code(204).send();
  });
}

/** Under the prefix of the operators' API. */
export function registerAccountMembers(app: FastifyInstance, deps: HttpDeps): void {
  const { members } = deps;
  const path = '/accounts/:id/members';

  app.get<WithId>(path, async (request) => {
    const page = pageOf(request, 'per');
    const account = await accountNamed(deps, request.params.id);
    const records = await members.list(account.id, page);
    return { object: 'list', data: records.map((record) => memberJson(record, account)) };
  });

  app.post<WithId>(path, async (request, reply) => {
    const account = await accountNamed(deps, request.params.id);
    const added = await members.add(operatorOf(request), account, newImportedMemberOf(request, account));
    return reply.code(201).send(memberJson(added, account));
  });

  registerMember(app, deps, `${path}/:memberId`, (request) => {
    const { id, memberId } = request.params as { id: string; memberId: string };
    return { changer: operatorOf(request), accountOf: () => accountNamed(deps, id), id: memberId };
  });
}

const oneMember = json('The member.', shownMember);
const removed = json(
  'Who was removed.',
  s.object({
    removed: s.text('The person’s id.'),
    disabled_keys: s.array(
      s.text('The id of a key.'),
      'The keys that they held in the account, which are disabled now.',
    ),
  }),
);

const about = 'Who may do what in an account. A management key has the rights of an admin; operators have all of them.';
const accountMembers = '/admin/v1/accounts/{id}/members';

export const members = resource('Members', about, 'management', {
  'GET /v1/members': operation('listMembers', 'List the members of the account', {
    parameters: [...pageParameters, s.query('find', 'A part of the email or the name.')],
    answers: list(shownMember),
  }),
  'GET /v1/members/{id}': operation('getMember', 'Get a member', { answers: oneMember }),
  'PATCH /v1/members/{id}': operation('updateMember', 'Change the role of a member', {
    description: 'A field that is left out stays as it is. Admins change members below admin.',
    body: memberChangeBody,
    answers: oneMember,
  }),
  'DELETE /v1/members/{id}': operation('removeMember', 'Remove a member', {
    description: 'Ends their sessions in the account at once, on every replica, and disables the keys that they hold.',
    answers: removed,
  }),
  'GET /v1/invitations': operation('listInvitations', 'List invitations', {
    parameters: pageParameters,
    answers: list(shownInvitation),
  }),
  'POST /v1/invitations': operation('createInvitation', 'Invite somebody', {
    description:
      'Makes a link that works once, for 7 days. It is mailed where mail is set up, else shown in this answer. A newer invitation of the same email takes the place of an earlier one.',
    body: newMemberBody,
    answers: created(json('The invitation.', createdInvitation)),
  }),
  'DELETE /v1/invitations/{id}': operation('revokeInvitation', 'Revoke an invitation', { answers: noContent }),
  [`GET ${accountMembers}`]: operation('listAccountMembers', 'List the members of an account', {
    parameters: pageParameters,
    answers: list(shownMember),
  }),
  [`POST ${accountMembers}`]: operation('addAccountMember', 'Add a member without an invitation', {
    description: 'Makes the person too where there is none of that email.',
    body: newImportedMemberBody,
    answers: created(oneMember),
  }),
  [`GET ${accountMembers}/{member_id}`]: operation('getAccountMember', 'Get a member', { answers: oneMember }),
  [`PATCH ${accountMembers}/{member_id}`]: operation('updateAccountMember', 'Change the role of a member', {
    body: memberChangeBody,
    answers: oneMember,
  }),
  [`DELETE ${accountMembers}/{member_id}`]: operation('removeAccountMember', 'Remove a member', { answers: removed }),
});
