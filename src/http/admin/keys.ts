/** Creates, lists, changes and deletes the keys of an account. Only the answer to the creation contains the token. */
import type { FastifyInstance } from 'fastify';
import type { HttpDeps } from '../deps.js';
import { KeyRecords } from '../keys/key-records.js';
import { accountNamed } from './accounts.js';
import { actorOf } from './audit.js';

type WithId = { Params: { id: string } };
type WithKeyId = { Params: { id: string; keyId: string } };

export function registerKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.post<WithId>('/accounts/:id/keys', async (request, reply) => {
    const account = () => accountNamed(deps, request.params.id);
    return reply.code(201).send(await records.createOrBring(request, actorOf(request), account));
  });

  app.post<WithId>('/accounts/:id/imported-keys', async (request) =>
    records.bringAll(request, actorOf(request), await accountNamed(deps, request.params.id)),
  );

  app.get<WithId>('/accounts/:id/keys', async (request) => {
    const { id } = await accountNamed(deps, request.params.id);
    return { object: 'list', data: await records.page(request, id) };
  });

  app.get<WithKeyId>('/accounts/:id/keys/:keyId', async (request) => {
    const { id } = await accountNamed(deps, request.params.id);
    return records.one(id, request.params.keyId);
  });

  app.patch<WithKeyId>('/accounts/:id/keys/:keyId', async (request) => {
    const account = () => accountNamed(deps, request.params.id);
    return records.update(request, actorOf(request), account, request.params.keyId);
  });

  app.delete<WithKeyId>('/accounts/:id/keys/:keyId', async (request, reply) => {
    const { id } = await accountNamed(deps, request.params.id);
    await records.delete(actorOf(request), id, request.params.keyId);
    return reply.code(204).send();
  });
}
