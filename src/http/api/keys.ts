/** `/v1/keys`: the keys of an account, for a program that has a management key. */
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../admin/audit.js';
import { managedAccount } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { KeyRecords } from '../keys/key-records.js';

type WithId = { Params: { id: string } };

export function registerManagedKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.get('/v1/keys', async (request) => ({ object: 'list', data: await records.list(managedAccount(request).id) }));

  app.post('/v1/keys', async (request, reply) =>
    reply.code(201).send(await records.createLimited(request, managedAccount(request))),
  );

  app.get<WithId>('/v1/keys/:id', async (request) => records.one(managedAccount(request).id, request.params.id));

  app.patch<WithId>('/v1/keys/:id', async (request) => {
    const account = managedAccount(request);
    return records.update(request, actorOf(request), async () => account, request.params.id);
  });

  app.delete<WithId>('/v1/keys/:id', async (request, reply) => {
    const { id } = managedAccount(request);
    await records.delete(actorOf(request), id, request.params.id);
    return reply.code(204).send();
  });
}
