/** `/admin/v1/accounts/{id}/projects`: the projects of an account, for operators. */
import type { FastifyInstance } from 'fastify';
import type { HttpDeps } from '../deps.js';
import { ProjectRecords, projectNamed } from '../projects/project-records.js';
import { accountNamed } from './accounts.js';
import { actorOf } from './audit.js';

type WithId = { Params: { id: string } };
type WithProjectId = { Params: { id: string; projectId: string } };

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
