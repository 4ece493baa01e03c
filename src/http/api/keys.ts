/** `/v1/keys`: the keys of an account, for a program that has a management key. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { callerOf } from '../authenticate.js';
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
    return records.update(request, `account:${account.id}`, async () => account, request.params.id);
  });

  app.delete<WithId>('/v1/keys/:id', async (request, reply) => {
    const { id } = managedAccount(request);
    await records.delete(`account:${id}`, id, request.params.id);
    return reply.code(204).send();
  });
}

/** Throws management_key_required. */
function managedAccount(request: FastifyRequest): Account {
  const { key, account } = callerOf(request);
  if (key.terms.kind !== 'management') throw gatewayError('management_key_required');
  return account;
}
