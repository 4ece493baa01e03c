/** `/v1/routing-policy` (contract 4.5): the account's gates, and what it prefers among the routes that they leave. */
import type { FastifyInstance } from 'fastify';
import { SavedPolicy } from '../../accounts/policy/saved-policy.js';
import { policyJson } from '../../policy/policy.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { jsonBody } from '../server/body.js';

const path = '/v1/routing-policy';

export function registerRoutingPolicy(app: FastifyInstance, { directory, audit }: HttpDeps): void {
  const saved = new SavedPolicy(directory, audit);

  app.get(path, async (request) => policyJson(accountOf(request).policy));

  app.put(path, async (request) => policyJson(await saved.set(accountOf(request), jsonBody(request))));

  app.delete(path, async (request, reply) => {
    await saved.delete(accountOf(request));
    return reply.code(204).send();
  });
}
