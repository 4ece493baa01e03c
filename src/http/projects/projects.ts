/**
 * The projects of an account with their keys and policies: `/v1/projects` for a management key, the same in the dashboard for a session,
 * and the projects of any account for operators.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noSuchProject } from '../../accounts/projects/projects.js';
import { checkRight, type Right, reaches } from '../../accounts/roles.js';
import type { ApiKey } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { openProjectPolicy, policyJson, policySchemas, readProjectPolicy } from '../../policy/policy.js';
import { preferences } from '../../policy/routing-policy.js';
import { accountNamed } from '../admin/accounts.js';
import { actorOf } from '../admin/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { holderOf, makersHolder, seesKeys } from '../keys/key-makers.js';
import { isWithin, KeyRecords } from '../keys/key-records.js';
import { creation, shownKey } from '../keys/keys.js';
import {
  body,
  type Component,
  component,
  created,
  json,
  list,
  noContent,
  operation,
  record,
  resource,
} from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { budgetOrNull, importedFrom, page, sentPolicy } from '../openapi/shared.js';
import { standingOf } from '../rights.js';
import { jsonBody } from '../server/body.js';
import { newImportedProject, newProject, projectChange } from './project-fields.js';
import { ProjectRecords, projectNamed } from './project-records.js';

type WithId = { Params: { id: string } };
type WithProjectId = { Params: { id: string; projectId: string } };

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerProjects(app: FastifyInstance, deps: HttpDeps, prefix: string): void {
  const records = new ProjectRecords(deps);
  const path = `${prefix}/projects`;

  app.get(path, async (request) => {
    const { account } = managerOf(request);
    const standing = standingOf(request);
    return records.list(request, account, ({ id }) => reaches(standing, id));
  });

  app.post(path, async (request, reply) => {
    const { account, reach } = managerOf(request);
    if (reach) throw gatewayError('whole_account_key_required');
    checkRight(standingOf(request), 'projects.manage');
    return reply.code(201).send(await records.create(request, actorOf(request), async () => account));
  });

  app.get<WithId>(`${path}/:id`, async (request) => {
    const { account, project } = managedProject(request);
    return records.one(account, project);
  });

  app.patch<WithId>(`${path}/:id`, async (request) => {
    const { account, project } = managedProject(request);
    for (const name of Object.keys(jsonBody(request)))
      checkRight(standingOf(request), name === 'budget' ? 'projects.budget' : 'projects.manage');
    return records.update(request, actorOf(request), account, project);
  });

  app.delete<WithId>(`${path}/:id`, async (request, reply) => {
    const { account, project } = managedProject(request, 'projects.manage');
    await records.delete(actorOf(request), account, project);
    return reply.code(204).send();
  });

  const keys = new KeyRecords(deps);

  app.get<WithId>(`${path}/:id/keys`, async (request) => {
    const { account, project } = managedProject(request, 'keys.read');
    const isTheirs = ({ holderId }: ApiKey) => seesKeys(request) || holderId === holderOf(request);
    return keys.page(request, account.id, { isSeen: (key) => isWithin(project, key) && isTheirs(key) });
  });

  app.post<WithId>(`${path}/:id/keys`, async (request, reply) => {
    const { account, project } = managedProject(request, 'keys.change');
    const maker = { reach: project, holderId: makersHolder(request) };
    return reply.code(201).send(await keys.createLimited(request, account, maker));
  });

  registerProjectPolicy(app, deps, `${path}/:id/routing-policy`);
}

/** Both policies hold, so a project's only narrows what the account's leaves. */
function registerProjectPolicy(app: FastifyInstance, { directory }: HttpDeps, path: string): void {
  app.get<WithId>(path, async (request) =>
    policyJson(managedProject(request, 'settings.read').project.policy ?? openProjectPolicy),
  );

  app.put<WithId>(path, async (request) => {
    const { account, project } = managedProject(request, 'projects.manage');
    const policy = readProjectPolicy(jsonBody(request));
    await directory.projects.update(actorOf(request), account, project, { policy });
    return policyJson(policy);
  });

  app.delete<WithId>(path, async (request, reply) => {
    const { account, project } = managedProject(request, 'projects.manage');
    await directory.projects.update(actorOf(request), account, project, { policy: null });
    return reply.code(204).send();
  });
}

/** Throws resource_not_found for a project that the caller does not reach, and role_required. */
function managedProject(request: FastifyRequest<WithId>, right: Right = 'projects.read') {
  const { account, reach } = managerOf(request);
  const project = projectNamed(account, request.params.id, reach);
  const standing = standingOf(request);
  if (!reaches(standing, project.id)) throw noSuchProject(request.params.id);
  checkRight(standing, right);
  return { account, project };
}

export function registerAccountProjects(app: FastifyInstance, deps: HttpDeps): void {
  const records = new ProjectRecords(deps);
  const path = '/accounts/:id/projects';
  const named = async ({ id, projectId }: WithProjectId['Params']) => {
    const account = await accountNamed(deps, id);
    return { account, project: projectNamed(account, projectId) };
  };

  app.get<WithId>(path, async (request) => records.list(request, await accountNamed(deps, request.params.id)));

  app.post<WithId>(path, async (request, reply) => {
    const account = () => accountNamed(deps, request.params.id);
    return reply.code(201).send(await records.create(request, actorOf(request), account));
  });

  app.get<WithProjectId>(`${path}/:projectId`, async (request) => {
    const { account, project } = await named(request.params);
    return records.one(account, project);
  });

  app.patch<WithProjectId>(`${path}/:projectId`, async (request) => {
    const { account, project } = await named(request.params);
    return records.update(request, actorOf(request), account, project);
  });

  app.delete<WithProjectId>(`${path}/:projectId`, async (request, reply) => {
    const { account, project } = await named(request.params);
    await records.delete(actorOf(request), account, project);
    return reply.code(204).send();
  });
}

const perMinuteOf = (what: string) =>
  s.integerOrNull(`${what} a minute through all of its keys together; null is no limit.`);

const shownProject = record('Project', {
  object: { const: 'project' },
  id: s.text('Its id.', { pattern: '^proj-' }),
  name: s.text('Its name, unique in the account.'),
  is_default: s.boolean('Every account has one default project, which cannot be deleted.'),
  budget: budgetOrNull,
  requests_per_minute: perMinuteOf('Requests'),
  tokens_per_minute: perMinuteOf('Tokens'),
  trust: s.objectsOf('Whose tokens workloads may exchange for keys of the project.', {
    issuer: s.text('The issuer of the tokens.'),
    subject: s.text('Their `sub`.'),
    audience: s.textOrNull('What `aud` must hold; null is the address of the project.'),
    claims: { type: 'object', additionalProperties: { type: 'string' }, description: 'Further claims.' },
    allowed_models: s.textsOrNull('The models that the keys may call; null is all of them.'),
    allowed_providers: s.textsOrNull('The providers that the keys may call; null is all of them.'),
  }),
  keys: s.integer('How many keys it has.'),
  spent_usd: s.usd('What was spent in the current period of its budget; without a budget, this month.'),
  imported_from: s.optional(importedFrom('the project')),
  created_at: s.time('When it was made.'),
});
const oneProject = json('The project.', shownProject);

const newExamples = {
  team: ['A team', { name: 'search' }],
  capped: [
    'With a budget and limits',
    {
      ...{ name: 'chat', requests_per_minute: 600, tokens_per_minute: 200_000 },
      budget: { limit_usd: '500', period: 'monthly', alert_at: [0.5, 0.8, 1] },
    },
  ],
} as const;
const changeBody = body(component('ProjectChange', projectChange), {
  rename: ['Another name', { name: 'retrieval' }],
  budget: ['No budget', { budget: null }],
});

/** `owner` is in the names of the operations. */
const operationsOf = (owner: '' | 'Account', path: string, item: string, newBody: Component) => ({
  [`GET ${path}`]: operation(`list${owner}Projects`, 'List projects', {
    description: 'The default one first, then the oldest. `after` takes the last id of a page and gives the next one.',
    parameters: page,
    answers: list(shownProject, 'A page.'),
  }),
  [`POST ${path}`]: operation(`create${owner}Project`, 'Create a project', {
    body: body(newBody, newExamples),
    answers: created(oneProject),
  }),
  [`GET ${item}`]: operation(`get${owner}Project`, 'Get a project', { answers: oneProject }),
  [`PATCH ${item}`]: operation(`update${owner}Project`, 'Change a project', {
    description: 'A field that is left out stays as it is. Renaming changes no history.',
    body: changeBody,
    answers: oneProject,
  }),
  [`DELETE ${item}`]: operation(`delete${owner}Project`, 'Delete a project', {
    description: 'Only a project without keys, and never the default one.',
    answers: noContent,
  }),
});

const prefer = s.oneOfValues([...preferences, null], 'What counts most in the ranking; null takes the account’s.');
const shownPolicy = record('ProjectPolicy', { object: { const: 'routing_policy' }, ...policySchemas, prefer });
const onePolicy = json('The policy.', shownPolicy);
const newPolicy = component(
  'NewProjectPolicy',
  sentPolicy('An absent or null field gets its default, `prefer` the account’s.'),
);

const policyPath = '/v1/projects/{id}/routing-policy';

export const projects = resource(
  'Projects',
  'The projects of the account, for a program with a management key. A management key of one project reaches that project only.',
  'management',
  {
    ...operationsOf('', '/v1/projects', '/v1/projects/{id}', component('NewProject', newProject)),
    'GET /v1/projects/{id}/keys': operation('listProjectKeys', 'List the keys of a project', {
      parameters: page,
      answers: list(shownKey, 'A page, oldest first.'),
    }),
    'POST /v1/projects/{id}/keys': operation('createProjectKey', 'Create a key in a project', creation),
    [`GET ${policyPath}`]: operation('getProjectRoutingPolicy', 'Get the policy of a project', { answers: onePolicy }),
    [`PUT ${policyPath}`]: operation('putProjectRoutingPolicy', 'Replace the policy of a project', {
      description: 'It holds beside the account’s, so it only narrows. Its gates are named with the prefix `project.`.',
      body: body(newPolicy, { sweden: ['In Sweden only', { regions: { allow: ['SE'] }, prefer: null }] }),
      answers: onePolicy,
    }),
    [`DELETE ${policyPath}`]: operation('deleteProjectRoutingPolicy', 'Only the account’s policy again', {
      answers: noContent,
    }),
  },
);

const accountProjects = '/admin/v1/accounts/{id}/projects';

export const adminProjects = resource(
  'Account projects',
  'For operators: the projects of an account.',
  'admin',
  operationsOf(
    'Account',
    accountProjects,
    `${accountProjects}/{project_id}`,
    component('NewImportedProject', newImportedProject),
  ),
);
