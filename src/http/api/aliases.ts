/** `/v1/aliases`: names that an account gives to routes. */
import type { FastifyInstance } from 'fastify';
import { AliasBook, aliasSlots } from '../../accounts/aliases/alias-book.js';
import { aliasTargetSchemas, targetModelId } from '../../accounts/aliases/alias-target.js';
import { aliasNameRule } from '../../catalogue/model-id.js';
import type { Alias } from '../../domain/account.js';
import { actorOf } from '../admin/audit.js';
import { accountOf, changesSettings } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { body, component, created, json, list, noContent, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import type { Schema } from '../openapi/types.js';
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

const name = s.text('1 to 64 of a-z, 0-9, `-` and `_`, starting with a letter or digit.', {
  pattern: aliasNameRule.source,
});
const target = {
  provider: s.text('A provider’s id, or `auto`.'),
  canonical_id: s.text('`{creator}/{model}`.'),
  locode: s.textOrNull('The region, or `global`; null for `auto`.'),
};
const shownAlias = record('Alias', {
  object: { const: 'alias' },
  name,
  ...target,
  target: s.object(target),
  model_id: s.text('The target as one id.'),
  created_at: s.time('When it was made.'),
  updated_at: s.time('When it was last repointed.'),
});
const oneAlias = json('The alias.', shownAlias);

/** A new alias has a name beside any shape of target. */
function withName(shape: Schema): Schema {
  const required = ['name', ...(shape.required as string[])];
  return { ...shape, required, properties: { name, ...(shape.properties as object) } };
}

const repoint = {
  body: body(component('AliasTarget', { anyOf: aliasTargetSchemas }), {
    nested: [
      'The whole target',
      { target: { provider: 'sandbox', canonical_id: 'lodestone/regions', locode: 'sesto' } },
    ],
  }),
  answers: oneAlias,
};

const about = `Names of the account for a pin or an \`auto/\` id, at most ${aliasSlots}.`;
export const aliases = resource('Aliases', about, 'key', {
  'GET /v1/aliases': operation('listAliases', 'List aliases', { answers: list(shownAlias) }),
  'POST /v1/aliases': operation('createAlias', 'Create an alias', {
    description: 'Send one shape of target, not several.',
    body: body(component('NewAlias', { anyOf: aliasTargetSchemas.map(withName) }), {
      flat: ['Flat', { name: 'fast', provider: 'sandbox', canonical_id: 'lodestone/regions', locode: 'defra' }],
      text: ['As one id', { name: 'any', target: 'auto/lodestone/echo' }],
    }),
    answers: created(oneAlias),
  }),
  'GET /v1/aliases/{name}': operation('getAlias', 'Get an alias', { answers: oneAlias }),
  'PUT /v1/aliases/{name}': operation('repointAlias', 'Repoint an alias', repoint),
  'PATCH /v1/aliases/{name}': operation('patchAlias', 'Repoint an alias (the same as PUT)', {
    description: 'Send the full target here too; absent fields are not kept.',
    ...repoint,
  }),
  'DELETE /v1/aliases/{name}': operation('deleteAlias', 'Delete an alias', { answers: noContent }),
});
