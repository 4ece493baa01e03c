/** `/v1/projects`: the projects of an account with their keys and policies, for a management key and in the dashboard for a session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { openProjectPolicy, policyJson, readProjectPolicy } from '../../policy/policy.js';
import { actorOf } from '../admin/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { KeyRecords } from '../keys/key-records.js';
import { ProjectRecords, projectNamed } from '../projects/project-records.js';
import { pageOf } from '../query.js';
import { jsonBody } from '../server/body.js';

type WithId = { Params: { id: string } };

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerProjects(app: FastifyInstance, deps: HttpDeps, prefix: string): void {
  const records = new ProjectRecords(deps);
  const path = `${prefix}/projects`;

  app.get(path, async (request) => {
    const { account, reach } = managerOf(request);
    return records.list(request, account, reach);
  });

  app.post(path, async (request, reply) => {
    const { account, reach } = managerOf(request);
    if (reach) throw gatewayError('whole_account_key_required');
    return reply.code(201).send(await records.create(request, actorOf(request), async () => account));
  });

  app.get<WithId>(`${path}/:id`, async (request) => {
    const { account, project } = managedProject(request);
    return records.one(account, project);
  });

  app.patch<WithId>(`${path}/:id`, async (request) => {
    const { account, project } = managedProject(request);
    return records.update(request, actorOf(request), account, project);
  });

  app.delete<WithId>(`${path}/:id`, async (request, reply) => {
    const { account, project } = managedProject(request);
    await records.delete(actorOf(request), account, project);
    return reply.code(204).send();
  });

  const keys = new KeyRecords(deps);

  app.get<WithId>(`${path}/:id/keys`, async (request) => {
    const { account, project } = managedProject(request);
    return { object: 'list', data: pageOf(request, await keys.list(account.id, project), 'key') };
  });

  app.post<WithId>(`${path}/:id/keys`, async (request, reply) => {
    const { account, project } = managedProject(request);
    return reply.code(201).send(await keys.createLimited(request, account, { reach: project }));
  });

  registerProjectPolicy(app, deps, `${path}/:id/routing-policy`);
}

/** Both policies hold, so a project's only narrows what the account's leaves. */
function registerProjectPolicy(app: FastifyInstance, { directory }: HttpDeps, path: string): void {
  app.get<WithId>(path, async (request) => policyJson(managedProject(request).project.policy ?? openProjectPolicy));

  app.put<WithId>(path, async (request) => {
    const { account, project } = managedProject(request);
    const policy = readProjectPolicy(jsonBody(request));
    await directory.projects.update(actorOf(request), account, project, { policy });
    return policyJson(policy);
  });

  app.delete<WithId>(path, async (request, reply) => {
    const { account, project } = managedProject(request);
    await directory.projects.update(actorOf(request), account, project, { policy: null });
    return reply.code(204).send();
  });
}

function managedProject(request: FastifyRequest<WithId>) {
  const { account, reach } = managerOf(request);
  return { account, project: projectNamed(account, request.params.id, reach) };
}
