/** `/admin/v1/people`: everybody who can sign in, for operators. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { membershipInForce } from '../../accounts/roles.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Person } from '../../storage/store.js';
import { actingPerson } from '../admin/audit.js';
import { bodyFields } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { body, component, created, json, list, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { importedFrom, role } from '../openapi/shared.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { pageLimit, queryId, queryNumber, queryText } from '../query.js';
import { pageParameters } from './member-fields.js';

const personChange = z.strictObject({
  status: z
    .enum(['active', 'suspended'], 'must be "active" or "suspended"')
    .optional()
    .describe('A suspended person cannot sign in, and their sessions end.'),
  operator: z.boolean('must be true or false').optional(),
});

const linkWish = z.strictObject({
  provider: z
    .string('must be the id of an identity provider')
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be the id of an identity provider'),
});

type WithId = { Params: { id: string } };

export function registerPeople(app: FastifyInstance, deps: HttpDeps): void {
  const { store, audit, dashboard } = deps;
  const { people } = store;

  app.get('/people', async (request) => {
    const page = { limit: queryNumber(request, pageLimit), after: queryId(request, 'per') };
    const found = await people.list({ ...page, email: queryText(request, 'email')?.toLowerCase() });
    return { object: 'list', data: await Promise.all(found.map((person) => personJson(deps, person))) };
  });

  app.get<WithId>('/people/:id', async (request) => personJson(deps, await personNamed(deps, request.params.id)));

  app.patch<WithId>('/people/:id', async (request) => {
    const change = bodyFields(request, personChange);
    const { id } = await personNamed(deps, request.params.id);
    await people.update(id, definedOf(change));
    if (change.status === 'suspended') await dashboard?.signIns.endSessions(id);
    await audit.record(actingPerson(request), 'person.update', shownPersonId(id), change);
    return personJson(deps, await personNamed(deps, id));
  });

  app.post<WithId>('/people/:id/password-reset', async (request, reply) => {
    checkPasswordsAllowed(dashboard);
    const person = await personNamed(deps, request.params.id);
    if (!dashboard) throw new Error('a link that resets a password needs the dashboard');
    const { url, expiresAt } = await dashboard.resets.makeLink(person);
    await audit.record(actingPerson(request), 'account.password_reset_link', shownPersonId(person.id));
    return reply.code(201).send({ url, expires_at: new Date(expiresAt).toISOString() });
  });

  app.post<WithId>('/people/:id/link', async (request) => {
    const { provider } = bodyFields(request, linkWish);
    checkProvider(deps, provider);
    const { id } = await personNamed(deps, request.params.id);
    await people.update(id, { linkProvider: provider });
    await audit.record(actingPerson(request), 'person.link', shownPersonId(id), { provider });
    return personJson(deps, await personNamed(deps, id));
  });

  app.delete<WithId>('/people/:id/two-factor', async (request) => {
    const { id } = await personNamed(deps, request.params.id);
    if (request.session?.person.id === id) throw gatewayError('two_factor_own_reset');
    const reset = await dashboard?.twoFactor.reset(id);
    if (reset) await audit.record(actingPerson(request), 'account.two_factor_reset', shownPersonId(id));
    return personJson(deps, await personNamed(deps, id));
  });
}

/** Before there is any provider, the id of one that is to come may be asked for. */
function checkProvider({ dashboard }: HttpDeps, provider: string): void {
  if (!dashboard || dashboard.singleSignOn.list().length === 0 || dashboard.singleSignOn.has(provider)) return;
  const reason = `names "${provider}", which is no identity provider of \`sign_in.oidc\``;
  throw gatewayError('field_invalid', { param: 'provider', reason });
}

async function personNamed({ store }: HttpDeps, id: string): Promise<Person> {
  const person = await store.people.find(id);
  if (!person) throw gatewayError('resource_not_found', { what: 'person', id: id.slice(0, 100) });
  return person;
}

function definedOf({ status, operator }: z.infer<typeof personChange>) {
  return { ...(status !== undefined && { status }), ...(operator !== undefined && { operator }) };
}

async function personJson({ store, directory }: HttpDeps, person: Person) {
  const { memberships } = await store.people.standing(person.id);
  const identities = await store.identities.ofPerson(person.id);
  const ids = [...new Set(memberships.map(({ accountId }) => accountId))];
  const accounts = await Promise.all(
    ids.map(async (id) => {
      const { role } = membershipInForce(memberships.filter(({ accountId }) => accountId === id));
      const account = await directory.account(id);
      return { id, email: account?.email ?? null, name: account?.name ?? null, role };
    }),
  );
  return {
    ...{ object: 'person', id: shownPersonId(person.id), email: person.email, name: person.name },
    ...{ status: person.status, operator: person.operator, two_factor: person.twoFactor },
    ...{ has_password: person.hasPassword, link_provider: person.linkProvider, accounts },
    imported_from: person.importedFrom,
    identities: identities.map(({ provider, issuer, subject, email, operator, ...times }) => ({
      ...{ provider, issuer, subject, email, operator },
      created_at: new Date(times.createdAt).toISOString(),
      last_used_at: new Date(times.lastUsedAt).toISOString(),
    })),
    created_at: new Date(person.createdAt).toISOString(),
  };
}

const shownPerson = record('Person', {
  object: { const: 'person' },
  id: s.text('The person’s id.', { pattern: '^per-' }),
  email: s.text('The email address with which they sign in. Nobody else has it.'),
  name: s.textOrNull('Their name.'),
  status: s.oneOfValues(['active', 'suspended'], 'A suspended person cannot sign in.'),
  operator: s.boolean('They are an operator in the dashboard.'),
  two_factor: s.boolean('Sign-in asks for a code.'),
  has_password: s.boolean('They can sign in with a password.'),
  link_provider: s.textOrNull('The identity provider that is linked with the next sign-in.'),
  imported_from: importedFrom('the person'),
  identities: s.objectsOf('Who they are at identity providers.', {
    provider: s.text('The id of the identity provider in the configuration.'),
    issuer: s.text('Its issuer.'),
    subject: s.text('Who they are there.'),
    email: s.text('Their email there.'),
    operator: s.boolean('A group of their last sign-in gives operator rights.'),
    created_at: s.time('When it was linked.'),
    last_used_at: s.time('When they signed in with it last.'),
  }),
  accounts: s.objectsOf('The accounts that they are a member of.', {
    id: s.text('The account’s id.'),
    email: s.textOrNull('Its email.'),
    name: s.textOrNull('Its name.'),
    role,
  }),
  created_at: s.time('When they came.'),
});
const onePerson = json('The person.', shownPerson);
const resetLink = { url: s.text('Give it to the person only.'), expires_at: s.time('When it expires.') };

export const people = resource('People', 'For operators: everybody who can sign in at the dashboard.', 'admin', {
  'GET /admin/v1/people': operation('listPeople', 'List people', {
    parameters: [s.query('email', 'Only the person of this email.', { type: 'string' }), ...pageParameters],
    answers: list(shownPerson),
  }),
  'GET /admin/v1/people/{id}': operation('getPerson', 'Get a person', { answers: onePerson }),
  'PATCH /admin/v1/people/{id}': operation('updatePerson', 'Suspend a person, or make them an operator', {
    body: body(component('PersonChange', personChange), {
      active: ['Active', { status: 'active', operator: false }],
    }),
    answers: onePerson,
  }),
  'POST /admin/v1/people/{id}/password-reset': operation('resetPersonPassword', 'Make a link that resets a password', {
    description: 'The link works once, within 24 hours.',
    answers: created(json('The link.', s.object(resetLink))),
  }),
  'POST /admin/v1/people/{id}/link': operation('linkPerson', 'Link an identity provider with the next sign-in', {
    body: body(component('LinkWish', linkWish), { corp: ['A provider', { provider: 'corp' }] }),
    answers: onePerson,
  }),
  'DELETE /admin/v1/people/{id}/two-factor': operation('resetPersonTwoFactor', 'Reset two-factor sign-in', {
    description: 'For a lost device. Ends the sessions of the person.',
    answers: onePerson,
  }),
});
