/** `/v1/credentials`: credentials of an account and its projects at providers, for a management key and in the dashboard for a session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { accountNamed } from '../admin/accounts.js';
import { actorOf } from '../admin/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { CredentialRecords } from './credential-records.js';

type WithId = { Params: { id: string } };
type WithCredentialId = { Params: { id: string; credentialId: string } };

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerCredentials(app: FastifyInstance, deps: HttpDeps, prefix: string): void {
  const records = new CredentialRecords(deps);
  const path = `${prefix}/credentials`;
  const managed = (request: FastifyRequest) => {
    const { account, reach } = managerOf(request);
    return { account, reach: reach?.id ?? null };
  };

  app.get(path, async (request) => {
    const { account, reach } = managed(request);
    return records.list(request, account, reach);
  });

  app.post(path, async (request, reply) => {
    const { account, reach } = managed(request);
    return reply.code(201).send(await records.create(request, actorOf(request), async () => account, reach));
  });

  app.get<WithId>(`${path}/:id`, async (request) => {
    const { account, reach } = managed(request);
    return records.one(account, request.params.id, reach);
  });

  app.patch<WithId>(`${path}/:id`, async (request) => {
    const { account, reach } = managed(request);
    return records.update(request, actorOf(request), account, request.params.id, reach);
  });

  app.delete<WithId>(`${path}/:id`, async (request, reply) => {
    const { account, reach } = managed(request);
    await records.delete(actorOf(request), account, request.params.id, reach);
    return reply.code(204).send();
  });

  app.post<WithId>(`${path}/:id/check`, async (request) => {
    const { account, reach } = managed(request);
    return records.check(account, request.params.id, reach);
  });
}

/** `/admin/v1/accounts/{id}/credentials`: the same for operators, and the key that all are sealed with. */
export function registerAccountCredentials(app: FastifyInstance, deps: HttpDeps): void {
  const records = new CredentialRecords(deps);
  const path = '/accounts/:id/credentials';

  app.get<WithId>(path, async (request) => records.list(request, await accountNamed(deps, request.params.id)));

  app.post<WithId>(path, async (request, reply) => {
    const account = () => accountNamed(deps, request.params.id);
    return reply.code(201).send(await records.create(request, actorOf(request), account));
  });

  app.get<WithCredentialId>(`${path}/:credentialId`, async ({ params }) =>
    records.one(await accountNamed(deps, params.id), params.credentialId),
  );

  app.patch<WithCredentialId>(`${path}/:credentialId`, async (request) => {
    const { id, credentialId } = request.params;
    return records.update(request, actorOf(request), await accountNamed(deps, id), credentialId);
  });

  app.delete<WithCredentialId>(`${path}/:credentialId`, async (request, reply) => {
    const { id, credentialId } = request.params;
    await records.delete(actorOf(request), await accountNamed(deps, id), credentialId);
    return reply.code(204).send();
  });

  app.post<WithCredentialId>(`${path}/:credentialId/check`, async ({ params }) =>
    records.check(await accountNamed(deps, params.id), params.credentialId),
  );

  app.post('/secrets/rotate', async (request) => {
    const rotated = await deps.credentials.rotate();
    await deps.audit.record(actorOf(request), 'secrets.rotate', rotated.key, { wrapped: rotated.wrapped });
    return rotated;
  });
}
