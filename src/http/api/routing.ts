/** The routing settings of an account: `/v1/routing-policy`, `/v1/fallback`, and the dry run `/v1/routes/explain`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SavedChain } from '../../accounts/fallback/saved-chain.js';
import { SavedPolicy } from '../../accounts/policy/saved-policy.js';
import { bodyBytesMax } from '../../pipeline/admit.js';
import { checkContentType } from '../../pipeline/validate.js';
import { policyJson } from '../../policy/policy.js';
import { actorOf } from '../admin/audit.js';
import { accountOf, callerOf, changesSettings } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { jsonBody, readControlBody } from '../server/body.js';

const policyPath = '/v1/routing-policy';

export function registerRoutingPolicy(app: FastifyInstance, { directory, audit }: HttpDeps): void {
  const saved = new SavedPolicy(directory, audit);

  app.get(policyPath, async (request) => policyJson(accountOf(request).policy));

  app.put(policyPath, changesSettings, async (request) =>
    policyJson(await saved.set(accountOf(request), jsonBody(request), actorOf(request))),
  );

  app.delete(policyPath, changesSettings, async (request, reply) => {
    await saved.delete(accountOf(request), actorOf(request));
    return reply.code(204).send();
  });
}

/** The chain for requests that bring none of their own. */
const fallbackPath = '/v1/fallback';

export function registerFallback(app: FastifyInstance, { directory, audit, modelStates, catalogue }: HttpDeps): void {
  const saved = new SavedChain(directory, audit, modelStates);

  app.get(fallbackPath, async (request) => fallbackJson(accountOf(request).fallback));

  app.put(fallbackPath, changesSettings, async (request) =>
    fallbackJson(await saved.set(accountOf(request), jsonBody(request), catalogue.current, actorOf(request))),
  );

  app.delete(fallbackPath, changesSettings, async (request, reply) => {
    await saved.delete(accountOf(request), actorOf(request));
    return reply.code(204).send();
  });
}

function fallbackJson(models: readonly string[]) {
  return { object: 'fallback', fallback: { models } };
}

/** The dry run of a chat request. It accepts bodies as large as chat does. */
export async function registerExplain(app: FastifyInstance, { explain, bodyMemory }: HttpDeps): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request: FastifyRequest) => readControlBody(request, bodyMemory, bodyBytesMax));
    scope.post('/v1/routes/explain', async (request) => {
      try {
        checkContentType(request.headers['content-type']);
        return await explain(
          callerOf(request),
          request.origin.territory,
          (request.body as Buffer | undefined) ?? Buffer.alloc(0),
          (name) => request.headers[name]?.toString(),
        );
      } finally {
        // Not in a hook on the answer: a client that has left gets none.
        request.bodyHold?.release();
      }
    });
  });
}
