/** The API keys of the signed-in account. Only the answer to the creation contains the token. */
import type { FastifyInstance } from 'fastify';
import { keyLabel } from '../../accounts/keys/token.js';
import { actorOf } from '../admin/audit.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { KeyRecords } from '../keys/key-records.js';

type WithId = { Params: { id: string } };

export function registerOwnKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.get('/keys', async (request) => {
    const keys = await records.list(accountOf(request).id);
    return { object: 'list', data: keys.reverse().map(withLabel) };
  });

  app.post('/keys', async (request, reply) =>
    reply.code(201).send(withLabel(await records.createLimited(request, accountOf(request)))),
  );

  app.patch<WithId>('/keys/:id', async (request) => {
    const account = accountOf(request);
    return withLabel(await records.update(request, actorOf(request), async () => account, request.params.id));
  });

  app.delete<WithId>('/keys/:id', async (request, reply) => {
    const { id } = accountOf(request);
    await records.delete(actorOf(request), id, request.params.id);
    return reply.code(204).send();
  });
}

function withLabel<Key extends { last_four: string }>(key: Key): Key & { label: string } {
  return { ...key, label: keyLabel(key.last_four) };
}
