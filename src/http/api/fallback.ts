/** `/v1/fallback` (contract 4.4): the chain that is walked where a request brings none of its own. */
import type { FastifyInstance } from 'fastify';
import { SavedChain } from '../../accounts/fallback/saved-chain.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { jsonBody } from '../server/body.js';

const path = '/v1/fallback';

export function registerFallback(app: FastifyInstance, { directory, audit, modelStates, catalogue }: HttpDeps): void {
  const saved = new SavedChain(directory, audit, modelStates);

  app.get(path, async (request) => fallbackJson(accountOf(request).fallback));

  app.put(path, async (request) =>
    fallbackJson(await saved.set(accountOf(request), jsonBody(request), catalogue.current)),
  );

  app.delete(path, async (request, reply) => {
    await saved.delete(accountOf(request));
    return reply.code(204).send();
  });
}

function fallbackJson(models: readonly string[]) {
  return { object: 'fallback', fallback: { models } };
}
