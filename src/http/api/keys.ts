/** `/v1/keys`: the keys of an account, for a program that has a management key. */
import type { FastifyInstance } from 'fastify';
import { actorOf } from '../admin/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { KeyRecords } from '../keys/key-records.js';
import { pageOrAll } from '../query.js';

type WithId = { Params: { id: string } };

export function registerManagedKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.get('/v1/keys', async (request) => {
    const { account, reach } = managerOf(request);
    return { object: 'list', data: pageOrAll(request, await records.list(account.id, reach), 'key') };
  });

  app.post('/v1/keys', async (request, reply) => {
    const { account, reach } = managerOf(request);
    return reply.code(201).send(await records.createLimited(request, account, { reach }));
  });

  app.get<WithId>('/v1/keys/:id', async (request) => {
    const { account, reach } = managerOf(request);
    return records.one(account.id, request.params.id, reach);
  });

  app.patch<WithId>('/v1/keys/:id', async (request) => {
    const { account, reach } = managerOf(request);
    return records.update(request, actorOf(request), async () => account, request.params.id, reach);
  });

  app.delete<WithId>('/v1/keys/:id', async (request, reply) => {
    const { account, reach } = managerOf(request);
    await records.delete(actorOf(request), account.id, request.params.id, reach);
    return reply.code(204).send();
  });
}
