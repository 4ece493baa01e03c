/** Reloads the catalogue: all of it, or nothing and every fault (contract 7). */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { actorOf } from './actor.js';

export function registerCatalogue(app: FastifyInstance, { catalogue, audit }: HttpDeps): void {
  app.post('/catalogue/reload', async (request) => {
    const outcome = await catalogue.reload();
    if (!outcome.ok) throw gatewayError('catalogue_invalid', { faults: outcome.faults.join('\n') });
    const { models, routes, providers } = outcome;
    await audit.record(actorOf(request), 'catalogue.reload', 'catalogue', { models, routes, providers });
    return { models, routes, providers };
  });
}
