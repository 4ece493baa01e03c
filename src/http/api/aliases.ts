/** `/v1/aliases`: names that an account gives to routes. */
import type { FastifyInstance } from 'fastify';
import { AliasBook } from '../../accounts/aliases/alias-book.js';
import { targetModelId } from '../../accounts/aliases/alias-target.js';
import type { Alias } from '../../domain/account.js';
import { actorOf } from '../admin/audit.js';
import { accountOf, changesSettings } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { jsonBody } from '../server/body.js';

type Named = { Params: { name: string } };

export function registerAliases(app: FastifyInstance, { directory, audit, clock, catalogue }: HttpDeps): void {
  const book = new AliasBook(directory, audit, clock);

  app.get('/v1/aliases', async (request) => ({
    object: 'list',
    data: [...accountOf(request).aliases.values()].map(aliasJson),
  }));

  app.post('/v1/aliases', changesSettings, async (request, reply) => {
    const alias = await book.create(accountOf(request), jsonBody(request), catalogue.current, actorOf(request));
    return reply.code(201).send(aliasJson(alias));
  });

  app.get<Named>('/v1/aliases/:name', async (request) => aliasJson(book.find(accountOf(request), request.params.name)));

  app.route<Named>({
    ...changesSettings,
    method: ['PUT', 'PATCH'],
    url: '/v1/aliases/:name',
    handler: async (request) =>
      aliasJson(
        await book.repoint(
          accountOf(request),
          request.params.name,
          jsonBody(request),
          catalogue.current,
          actorOf(request),
        ),
      ),
  });

  app.delete<Named>('/v1/aliases/:name', changesSettings, async (request, reply) => {
    await book.delete(accountOf(request), request.params.name, actorOf(request));
    return reply.code(204).send();
  });
}

/** `model_id` is the target as one id, as a chat request would write it. */
export function aliasJson(alias: Alias) {
  const target = { provider: alias.provider, canonical_id: alias.canonicalId, locode: alias.locode };
  return {
    object: 'alias',
    name: alias.name,
    ...target,
    target,
    model_id: targetModelId(alias),
    created_at: new Date(alias.createdAt).toISOString(),
    updated_at: new Date(alias.updatedAt).toISOString(),
  };
}
