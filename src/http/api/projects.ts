/** `/v1/projects`: the projects of an account with their keys and policies, for a management key and in the dashboard for a session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noSuchProject } from '../../accounts/projects/projects.js';
import { checkRight, type Right, reaches } from '../../accounts/roles.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { openProjectPolicy, policyJson, readProjectPolicy } from '../../policy/policy.js';
import { actorOf } from '../admin/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { holderOf, makersHolder, seesKeys } from '../keys/key-makers.js';
import { KeyRecords } from '../keys/key-records.js';
import { ProjectRecords, projectNamed } from '../projects/project-records.js';
import { pageOf } from '../query.js';
import { standingOf } from '../rights.js';
import { jsonBody } from '../server/body.js';

type WithId = { Params: { id: string } };

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
    const all = await keys.list(account.id, project);
    const own = seesKeys(request) ? all : all.filter(({ holder }) => holder === shownPersonId(holderOf(request)));
    return { object: 'list', data: pageOf(request, own, 'key') };
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
