/** The routing settings of an account: `/v1/routing-policy`, `/v1/fallback`, and the dry run `/v1/routes/explain`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SavedChain } from '../../accounts/fallback/saved-chain.js';
import { SavedPolicy } from '../../accounts/policy/saved-policy.js';
import { modelIdSchema } from '../../catalogue/model-id.js';
import { bodyBytesMax } from '../../pipeline/admit.js';
import { checkContentType } from '../../pipeline/validate.js';
import { defaultPolicy, policyJson, policySchemas } from '../../policy/policy.js';
import { fallbackModelsMax } from '../../wire/chat-request.js';
import { actorOf } from '../admin/audit.js';
import { accountOf, callerOf, changesSettings } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { body, component, json, noContent, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { sentPolicy } from '../openapi/shared.js';
import type { Schema } from '../openapi/types.js';
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

const onePolicy = json(
  'The policy.',
  record('RoutingPolicy', { object: { const: 'routing_policy' }, ...policySchemas }),
);
const newPolicy = sentPolicy('An absent or null field gets its default.', { examples: [defaultPolicy] });

const aboutPolicy = 'Gates for `auto/` ids, and a preference among the routes that they leave.';
export const routingPolicy = resource('Routing policy', aboutPolicy, 'key', {
  'GET /v1/routing-policy': operation('getRoutingPolicy', 'Get the routing policy', { answers: onePolicy }),
  'PUT /v1/routing-policy': operation('putRoutingPolicy', 'Replace the routing policy', {
    description: 'Replaces the whole policy. `POST /v1/routes/explain` shows which routes of a model a policy leaves.',
    body: body(component('NewRoutingPolicy', newPolicy), {
      europe: [
        'In Germany or Sweden, outside the CLOUD Act, clean first',
        { deny_cloud_act: true, regions: { allow: ['DE', 'SE'] }, prefer: 'carbon' },
      ],
    }),
    answers: onePolicy,
  }),
  'DELETE /v1/routing-policy': operation('deleteRoutingPolicy', 'Back to the default policy', { answers: noContent }),
});

const chainOf = (entry: Schema) =>
  s.object({
    models: s.array(entry, `Model ids in any form, at most ${fallbackModelsMax}; \`auto/\` ids are recommended.`, {
      maxItems: fallbackModelsMax,
    }),
  });
const shownChain = record('Fallback', { object: { const: 'fallback' }, fallback: chainOf({ type: 'string' }) });
const newChain = record('NewFallback', { fallback: chainOf(modelIdSchema) });

const aboutChain = 'The ids to try when the requested id has failed with a 503 or 504.';
export const fallback = resource('Fallback', aboutChain, 'key', {
  'GET /v1/fallback': operation('getFallback', 'Get the saved chain', {
    answers: json('The chain; empty where none is saved.', shownChain),
  }),
  'PUT /v1/fallback': operation('putFallback', 'Save the chain', {
    description: 'Every entry must be in the catalogue and served. An entry that is withdrawn later is skipped.',
    body: body(newChain, {
      chain: ['Two entries', { fallback: { models: ['auto/lodestone/regions', 'sandbox/lodestone/echo'] } }],
    }),
    answers: json('The chain.', shownChain),
  }),
  'DELETE /v1/fallback': operation('deleteFallback', 'Delete the chain', { answers: noContent }),
});
